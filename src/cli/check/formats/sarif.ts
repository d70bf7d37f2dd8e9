import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Severity } from '../../../analysis/finding';
import { explanations, type RuleExplanation } from '../../../analysis/rules/explanations';
import { explanationMarkdown, explanationText } from '../explain';
import type { Place, PlacedFinding, PlacedFix, Region } from '../result';
import { say, type Report } from './report';

type Level = 'error' | 'warning' | 'note';
const levels: Record<Severity, Level> = { error: 'error', warning: 'warning', hint: 'note' };
/** GitHub's words for the same. */
const problemSeverities: Record<Severity, string> = { error: 'error', warning: 'warning', hint: 'recommendation' };
const schema = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json';

export interface Tool {
  version: string;
  homepage: string;
}

/** A log of SARIF 2.1.0. Its places are those in the files: in a notebook, of its JSON. */
export function sarifReport({ files, skipped }: Report, tool: Tool): string {
  const rules = explanations.map(ruleObject);
  const ruleIndex = new Map(rules.map(({ id }, index) => [id, index]));
  const results = files.flatMap(({ file, findings }) =>
    findings.map((finding) => resultObject(file, finding, ruleIndex.get(finding.rule))),
  );
  const run = {
    tool: {
      driver: {
        ...{ name: 'VRAM Lens', version: tool.version, semanticVersion: tool.version },
        ...{ informationUri: tool.homepage, rules },
      },
    },
    columnKind: 'unicodeCodePoints',
    originalUriBaseIds: { SRCROOT: { uri: `${pathToFileURL(path.resolve()).href}/` } },
    invocations: [
      {
        executionSuccessful: skipped.every(({ failed }) => !failed),
        toolExecutionNotifications: skipped.map(({ file, reason, failed }) => ({
          ...{ level: failed ? 'error' : 'note', message: { text: say(reason) } },
          locations: [{ physicalLocation: { artifactLocation: artifact(file) } }],
        })),
      },
    ],
    results,
  };
  return `${JSON.stringify({ $schema: schema, version: '2.1.0', runs: [run] }, null, 1)}\n`;
}

function ruleObject(explanation: RuleExplanation): { id: string } & Record<string, unknown> {
  const { rule, severity } = explanation;
  return {
    ...{ id: rule, name: rule.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase()) },
    shortDescription: { text: say(explanation.title) },
    fullDescription: { text: say(explanation.finds) },
    help: { text: explanationText(explanation), markdown: explanationMarkdown(explanation) },
    defaultConfiguration: { level: levels[severity] },
    properties: {
      ...{ tags: ['performance', 'memory', 'pytorch'], precision: 'high' },
      'problem.severity': problemSeverities[severity],
    },
  };
}

function resultObject(file: string, finding: PlacedFinding, ruleIndex: number | undefined): object {
  const steps = finding.chain.map(({ place, message }) => ({
    ...location(file, place),
    message: { text: say(message) },
  }));
  return {
    ruleId: finding.rule,
    ...(ruleIndex === undefined ? {} : { ruleIndex }),
    level: levels[finding.severity],
    message: { text: say(finding.message) },
    locations: [location(file, finding.place)],
    partialFingerprints: { 'vramLensFinding/v1': finding.fingerprint },
    relatedLocations: steps.map((step, index) => ({ id: index + 1, ...step })),
    codeFlows: [{ threadFlows: [{ locations: steps.map((step) => ({ location: step })) }] }],
    ...(finding.fixes.length === 0 ? {} : { fixes: finding.fixes.map((fix) => fixObject(file, fix)) }),
    ...(finding.place.cell === null
      ? {}
      : { properties: { cell: finding.place.cell, lineInCell: finding.place.region.line } }),
  };
}

function fixObject(file: string, { title, inFile }: PlacedFix): object {
  return {
    description: { text: say(title) },
    artifactChanges: [
      {
        artifactLocation: artifact(file),
        replacements: inFile.map(({ region, newText }) => ({
          ...{ deletedRegion: regionObject(region), insertedContent: { text: newText } },
        })),
      },
    ],
  };
}

function location(file: string, { inFile }: Place): object {
  return { physicalLocation: { artifactLocation: artifact(file), region: regionObject(inFile) } };
}

function regionObject({ line, column, endLine, endColumn }: Region): object {
  return { startLine: line, startColumn: column, endLine, endColumn };
}

/** From the working directory where the file is below it, as uploaders want it. */
function artifact(file: string): object {
  if (file === '-') return { uri: 'stdin' };
  const below = path.relative('', file).replaceAll(path.sep, '/');
  if (below.startsWith('../') || path.isAbsolute(below)) return { uri: pathToFileURL(path.resolve(file)).href };
  return { uri: below.split('/').map(encodeURIComponent).join('/'), uriBaseId: 'SRCROOT' };
}
