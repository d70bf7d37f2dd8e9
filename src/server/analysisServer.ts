import path from 'node:path';
import type { Parser } from 'web-tree-sitter';
import { readProgram } from '../analysis/analyse';
import { text, type Finding } from '../analysis/finding';
import { releaseAfterLastUse } from '../analysis/fixes/releaseAfterLastUse';
import { ruleSlugs } from '../analysis/rules/registry';
import { ProjectImports, type FileImports } from '../pythonFiles/imports';
import {
  CodeActionKind,
  CodeActionTriggerKind,
  type CodeAction,
  type CodeActionParams,
  type Connection,
} from 'vscode-languageserver/node';
import { diagnosticsByDocument, quickFixes, refactoring, type Say } from './diagnostics';
import { Examination, optionsFor } from './examination';
import { fileOf } from './openFiles';
import { OpenSources } from './openSources';
import { fixInTyped } from './readableText';
import { readSettings, settingsSection, type AnalysisSettings } from './settings';
import { isCurrent, type Source } from './source';

/** After the last keystroke: long enough not to flicker, short enough to feel at once. */
const quietMs = 250;
/** After a change of what it imports: one does not look at the importing file at that moment. */
const importedQuietMs = 1000;

/** What is known of one open script or notebook. */
interface Examined {
  examination: Promise<Examination>;
  timer: NodeJS.Timeout | undefined;
  result: { source: Source; findings: readonly Finding[] } | null;
  /** Documents that show diagnostics of it. */
  shown: readonly string[];
  imports: FileImports | null;
}

/** Examines what is open, tells the client what was found, and answers its requests. */
export class AnalysisServer {
  readonly sources: OpenSources;
  /** Folders that imports are looked for in. */
  roots: readonly string[] = [];
  private readonly imports: ProjectImports;
  private readonly examined = new Map<string, Examined>();
  private readonly toldUnknown = new Set<string>();

  /** @param asksSettings whether the client answers `workspace/configuration` */
  constructor(
    private readonly connection: Connection,
    private readonly parser: () => Promise<Parser>,
    private readonly say: Say,
    private readonly asksSettings: () => boolean,
  ) {
    this.sources = new OpenSources({
      opened: (uri) => this.schedule(uri, 0),
      changed: (uri) => {
        // An open document is told as a changed one as well.
        this.schedule(uri, this.examinedOf(uri).result === null ? 0 : quietMs);
        const file = fileOf(uri);
        if (file !== null) this.fileChanged(file);
      },
      closed: (uri) => this.close(uri),
    });
    this.imports = new ProjectImports(this.sources.files.text);
  }

  /** Examines everything anew: settings have changed. */
  examineAll(): void {
    for (const { examination } of this.examined.values()) void examination.then((one) => one.forget());
    for (const uri of this.sources.uris()) this.schedule(uri, 0);
  }

  /** Examines what imports a file that changed, appeared or went. */
  fileChanged(file: string): void {
    for (const [uri, { imports, examination }] of this.examined) {
      if (imports?.lookedFor.has(file) !== true) continue;
      void examination.then((one) => one.forget());
      this.schedule(uri, importedQuietMs);
    }
  }

  async codeActions({ textDocument, range, context }: CodeActionParams): Promise<CodeAction[]> {
    const source = this.sources.source(textDocument.uri);
    if (source === null) return [];
    const start = source.offsetAt(textDocument.uri, range.start);
    const end = source.offsetAt(textDocument.uri, range.end);
    if (start === null || end === null) return [];
    const wants = (kind: string): boolean =>
      context.only === undefined ||
      context.only.some((one) => one === '' || kind === one || kind.startsWith(`${one}.`));
    const actions: CodeAction[] = [];
    if (wants(CodeActionKind.QuickFix)) actions.push(...this.quickFixes(source, start, end));
    // The editor asks by itself at every move of the cursor: this one is for people who ask.
    if (wants(CodeActionKind.RefactorRewrite) && context.triggerKind !== CodeActionTriggerKind.Automatic) {
      const saysWhyNot = context.only?.some((kind) => kind.startsWith(CodeActionKind.Refactor)) ?? false;
      const action = await this.release(source, start);
      if (action !== null && (action.disabled === undefined || saysWhyNot)) actions.push(action);
    }
    return actions;
  }

  private quickFixes(source: Source, start: number, end: number): CodeAction[] {
    const result = this.examined.get(source.uri)?.result;
    // Edits made for an older text would land in the wrong place.
    if (!result || !isCurrent(result.source, source)) return [];
    return result.findings
      .filter((finding) => finding.start <= end && finding.end >= start)
      .flatMap((finding) => quickFixes(finding, source, this.say));
  }

  private async release(source: Source, offset: number): Promise<CodeAction | null> {
    const examined = this.examined.get(source.uri);
    if (examined === undefined) return null;
    const readable = (await examined.examination).read(source);
    const options = optionsFor(source, readable, (name) => examined.imports?.resolve(name) ?? null);
    const program = readProgram(await this.parser(), readable.text, options);
    const at = readable.fromTyped(offset);
    const release = program === null ? null : releaseAfterLastUse(program, at);
    if (release === null) return null;
    const { name, result } = release;
    const title = this.say(text('Release GPU memory after last use of {0}', name));
    const inTyped = 'edits' in result ? fixInTyped(result, readable) : result;
    return inTyped === null ? null : refactoring(inTyped, title, source, this.say);
  }

  private schedule(uri: string, afterMs: number): void {
    const examined = this.examinedOf(uri);
    clearTimeout(examined.timer);
    examined.timer = setTimeout(() => {
      this.examine(uri, examined).catch((error: unknown) => {
        // What was found before stays: it is likelier right than nothing is.
        this.connection.console.error(`${uri}: ${error instanceof Error ? error.stack : String(error)}`);
      });
    }, afterMs);
  }

  private examinedOf(uri: string): Examined {
    let examined = this.examined.get(uri);
    if (examined === undefined) {
      const examination = this.parser().then((parser) => new Examination(parser));
      examined = { examination, timer: undefined, result: null, shown: [], imports: null };
      this.examined.set(uri, examined);
    }
    return examined;
  }

  private async examine(uri: string, examined: Examined): Promise<void> {
    const [examination, settings] = await Promise.all([examined.examination, this.settings(uri)]);
    const source = this.sources.source(uri);
    // Closed meanwhile.
    if (source === null || this.examined.get(uri) !== examined) return;
    const imports = this.importsOf(uri);
    const findings = examination.findings(source, settings, (name) => imports?.resolve(name) ?? null);
    // After a small edit nothing is looked for anew: what was holds.
    examined.imports = imports === null || imports.lookedFor.size > 0 ? imports : (examined.imports ?? imports);
    examined.result = { source, findings };
    await this.show(examined, source, findings);
  }

  private async show(examined: Examined, source: Source, findings: readonly Finding[]): Promise<void> {
    const byDocument = diagnosticsByDocument(findings, source, this.say);
    const gone = examined.shown.filter((uri) => !byDocument.has(uri));
    examined.shown = [...byDocument.keys()];
    const sent = [...byDocument].map(([uri, diagnostics], index) => {
      const version = source.versions[index];
      return this.connection.sendDiagnostics({ uri, ...(version === undefined ? {} : { version }), diagnostics });
    });
    await Promise.all([...sent, ...gone.map((uri) => this.connection.sendDiagnostics({ uri, diagnostics: [] }))]);
  }

  private close(uri: string): void {
    const examined = this.examined.get(uri);
    this.examined.delete(uri);
    void examined?.examination.then((one) => one.forget());
    clearTimeout(examined?.timer);
    for (const shown of examined?.shown ?? []) void this.connection.sendDiagnostics({ uri: shown, diagnostics: [] });
  }

  private async settings(uri: string): Promise<AnalysisSettings> {
    if (!this.asksSettings()) return readSettings(null);
    const settings = readSettings(
      await this.connection.workspace.getConfiguration({ scopeUri: uri, section: settingsSection }),
    );
    for (const rule of [...settings.select, ...settings.ignore]) {
      if (ruleSlugs.includes(rule) || this.toldUnknown.has(rule)) continue;
      this.toldUnknown.add(rule);
      this.connection.console.warn(
        this.say(text('There is no rule "{0}"; there are: {1}.', rule, ruleSlugs.join(', '))),
      );
    }
    return settings;
  }

  private importsOf(uri: string): FileImports | null {
    const file = fileOf(uri);
    const folder = file === null ? this.roots[0] : path.dirname(file);
    if (folder === undefined) return null;
    // Of several folders in the workspace the file's own comes first.
    const around = (root: string): number => (`${folder}${path.sep}`.startsWith(`${root}${path.sep}`) ? 0 : 1);
    return this.imports.from(
      folder,
      [...this.roots].sort((a, b) => around(a) - around(b)),
    );
  }
}
