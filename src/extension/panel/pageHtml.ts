import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';

/** The panel's document: our script and style and nothing else may load (facts/vscode.md 1.5). */
export function pageHtml(webview: vscode.Webview, assets: vscode.Uri): string {
  const nonce = randomBytes(16).toString('base64');
  const uri = (name: string): string => webview.asWebviewUri(vscode.Uri.joinPath(assets, name)).toString();
  const policy = [
    `default-src 'none'`,
    `script-src 'nonce-${nonce}'`,
    `style-src ${webview.cspSource}`,
    `font-src ${webview.cspSource}`,
    `img-src ${webview.cspSource} data:`,
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="${vscode.env.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<link rel="stylesheet" href="${uri('style.css')}">
<title>${vscode.l10n.t('GPU Memory')}</title>
</head>
<body>
<div id="app"></div>
<script nonce="${nonce}" src="${uri('panel.js')}"></script>
</body>
</html>`;
}
