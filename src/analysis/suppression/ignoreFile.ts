/** A comment on a line of its own: `# vram-lens: ignore-file`, or `# vram-lens: ignore-file[rule, rule]`. */
const comment = /^[ \t]*#[ \t]*vram-lens:[ \t]*ignore-file(?:[ \t]*\[([^\]\r\n]*)\])?/gm;

/** The rules that a file's own comments switch off in the whole file. */
export function rulesIgnoredInFile(source: string): 'all' | ReadonlySet<string> {
  const ignored = new Set<string>();
  for (const [, rules] of source.matchAll(comment)) {
    if (rules === undefined) return 'all';
    for (const rule of rules.split(',')) ignored.add(rule.trim());
  }
  return ignored;
}
