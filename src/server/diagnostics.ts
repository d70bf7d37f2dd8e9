import {
  CodeActionKind,
  DiagnosticSeverity,
  type CodeAction,
  type Diagnostic,
  type Range as LspRange,
} from 'vscode-languageserver/node';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import type { Finding, Fix, Range, Severity, Text } from '../analysis/finding';

export const source = 'VRAM Lens';

/** A text in the user's language. */
export type Say = (text: Text) => string;

const severities: Record<Severity, DiagnosticSeverity> = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  hint: DiagnosticSeverity.Information,
};

/** A finding as the editor shows it: its why-chain is the related information. */
export function diagnostic(finding: Finding, document: TextDocument, say: Say): Diagnostic {
  return {
    range: range(finding, document),
    severity: severities[finding.severity],
    ...{ source, code: finding.rule },
    message: say(finding.message),
    relatedInformation: finding.chain.map((reason) => ({
      location: { uri: document.uri, range: range(reason, document) },
      message: say(reason.message),
    })),
  };
}

/** The fixes of a finding as quick fixes, the first one preferred. */
export function codeActions(finding: Finding, document: TextDocument, say: Say): CodeAction[] {
  return finding.fixes.map((fix, index) => ({
    title: say(fix.title),
    kind: CodeActionKind.QuickFix,
    diagnostics: [diagnostic(finding, document, say)],
    isPreferred: index === 0,
    edit: { changes: { [document.uri]: edits(fix, document) } },
  }));
}

function edits(fix: Fix, document: TextDocument): { range: LspRange; newText: string }[] {
  return fix.edits.map((edit) => ({ range: range(edit, document), newText: edit.newText }));
}

export function range({ start, end }: Range, document: TextDocument): LspRange {
  return { start: document.positionAt(start), end: document.positionAt(end) };
}
