import {
  CodeActionKind,
  DiagnosticSeverity,
  type CodeAction,
  type Diagnostic,
  type TextEdit,
} from 'vscode-languageserver/node';
import { text, type Finding, type Fix, type Severity, type Text } from '../analysis/finding';
import type { Source } from './source';

/** A text in the user's language. */
export type Say = (text: Text) => string;

const severities: Record<Severity, DiagnosticSeverity> = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  hint: DiagnosticSeverity.Information,
};

/** A finding as the editor shows it: its why-chain is the related information. */
export function diagnostic(finding: Finding, source: Source, say: Say): Diagnostic {
  return {
    range: source.location(finding).range,
    severity: severities[finding.severity],
    ...{ source: 'VRAM Lens', code: finding.rule },
    message: say(finding.message),
    relatedInformation: finding.chain.map((reason) => ({
      location: source.location(reason),
      message: say(reason.message),
    })),
  };
}

/** The diagnostics of each document of a source; of those without findings as well, so that old ones go. */
export function diagnosticsByDocument(
  findings: readonly Finding[],
  source: Source,
  say: Say,
): Map<string, Diagnostic[]> {
  const byDocument = new Map<string, Diagnostic[]>(source.documents.map(({ uri }) => [uri, []]));
  for (const finding of findings) byDocument.get(source.location(finding).uri)?.push(diagnostic(finding, source, say));
  return byDocument;
}

/** The fixes of a finding as quick fixes, the first one preferred. */
export function quickFixes(finding: Finding, source: Source, say: Say): CodeAction[] {
  return finding.fixes.flatMap((fix, index) => {
    const changes = source.changes(fix.edits);
    if (changes === null) return [];
    return [
      {
        ...{ title: say(fix.title), kind: CodeActionKind.QuickFix, isPreferred: index === 0 },
        diagnostics: [diagnostic(finding, source, say)],
        edit: { changes },
      },
    ];
  });
}

/** A refactoring; one that cannot be made is there with the reason. */
export function refactoring(result: Fix | Text, title: string, source: Source, say: Say): CodeAction {
  const kind = CodeActionKind.RefactorRewrite;
  if ('text' in result) return { title, kind, disabled: { reason: say(result) } };
  const changes: Record<string, TextEdit[]> | null = source.changes(result.edits);
  if (changes === null) return { title, kind, disabled: { reason: say(notEditable) } };
  return { title: say(result.title), kind, edit: { changes } };
}

const notEditable = text('The lines to change reach over cells or into a magic.');
