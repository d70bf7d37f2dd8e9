import { existsSync } from 'node:fs';
import path from 'node:path';
import * as l10n from '@vscode/l10n';

const variables = ['VRAM_LENS_LANG', 'LC_ALL', 'LC_MESSAGES', 'LANG'];

/** The bundle's name for the user's language (`zh-cn`); null: English. The first variable that is set decides. */
export function chooseLanguage(env: NodeJS.ProcessEnv): string | null {
  const set = variables.map((name) => env[name]).find((value) => value !== undefined && value !== '');
  return set !== undefined && /^zh([_.@-]|$)/i.test(set) ? 'zh-cn' : null;
}

/** Loads the bundle for the user's language from the package's `l10n` folder. */
export function useLanguage(env: NodeJS.ProcessEnv, packageRoot: string): void {
  const language = chooseLanguage(env);
  if (language === null) return;
  const fsPath = path.join(packageRoot, 'l10n', `bundle.l10n.${language}.json`);
  if (existsSync(fsPath)) l10n.config({ fsPath });
}
