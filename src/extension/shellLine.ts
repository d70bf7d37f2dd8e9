/** A command line for the shell a new terminal starts, each word quoted where the shell needs it. */
export function shellLine(words: readonly string[], shell: string): string {
  const name = shell.replaceAll('\\', '/').split('/').at(-1)?.toLowerCase() ?? '';
  if (/^(pwsh|powershell)(\.exe)?$/.test(name)) return `& ${words.map(quotePowerShell).join(' ')}`;
  if (/^cmd(\.exe)?$/.test(name))
    return words.map((word) => (/^[\w.:\\/-]+$/.test(word) ? word : `"${word}"`)).join(' ');
  return words.map(quotePosix).join(' ');
}

function quotePosix(word: string): string {
  return /^[\w./:@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

function quotePowerShell(word: string): string {
  return /^[\w.:\\/-]+$/.test(word) ? word : `'${word.replaceAll("'", "''")}'`;
}
