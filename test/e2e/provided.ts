/** What `editor.mjs` hands to the tests: absolute paths, and the address of the VS Code server. */
export interface Editor {
  url: string;
  /** HOME of the server; thrown away at the end. */
  home: string;
  /** The open folder, a copy of samples/. */
  workspace: string;
  /** Screenshots and logs, kept. */
  results: string;
  /** XDG_RUNTIME_DIR of the server and its terminals. */
  runtime: string;
  root: string;
  chromium: string;
  /** A Python with torch. */
  python: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    editor: Editor;
  }
}
