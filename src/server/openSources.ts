import { NotebookCellKind, NotebookDocuments, TextDocuments, type Connection } from 'vscode-languageserver/node';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { OpenFiles } from './openFiles';
import { notebookSource, scriptSource, type Source } from './source';

/** What happens to open scripts and notebooks; `uri` is that of the script or the notebook. */
export interface SourceEvents {
  opened(uri: string): void;
  changed(uri: string): void;
  closed(uri: string): void;
}

/** Every open script and notebook. */
export class OpenSources {
  readonly files = new OpenFiles();
  private readonly scripts = new TextDocuments(TextDocument);
  private readonly notebooks = new NotebookDocuments(TextDocument);
  private readonly openNotebooks = new Set<string>();

  constructor(events: SourceEvents) {
    this.scripts.onDidOpen(({ document }) => {
      this.files.opened(document);
      events.opened(document.uri);
    });
    this.scripts.onDidChangeContent(({ document }) => events.changed(document.uri));
    this.scripts.onDidClose(({ document }) => {
      this.files.closed(document);
      events.closed(document.uri);
    });
    this.notebooks.onDidOpen(({ uri }) => {
      this.openNotebooks.add(uri);
      events.opened(uri);
    });
    this.notebooks.onDidChange(({ notebookDocument }) => events.changed(notebookDocument.uri));
    this.notebooks.onDidClose(({ uri }) => {
      this.openNotebooks.delete(uri);
      events.closed(uri);
    });
  }

  listen(connection: Connection): void {
    this.scripts.listen(connection);
    this.notebooks.listen(connection);
  }

  uris(): string[] {
    return [...this.scripts.keys(), ...this.openNotebooks];
  }

  /** The script or notebook that a URI means, or that the cell with this URI is in, as it is now. */
  source(uri: string): Source | null {
    const script = this.scripts.get(uri);
    if (script !== undefined) return scriptSource(script);
    const isNotebook = this.openNotebooks.has(uri);
    const notebook = isNotebook
      ? this.notebooks.getNotebookDocument(uri)
      : this.notebooks.findNotebookDocumentForCell(uri);
    if (notebook === undefined) return null;
    const cells = notebook.cells.flatMap((cell) => {
      const document = this.notebooks.getCellTextDocument(cell);
      return cell.kind === NotebookCellKind.Code && document !== undefined ? [document] : [];
    });
    return notebookSource(notebook.uri, cells);
  }
}
