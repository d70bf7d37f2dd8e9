import type { ToPanel } from '../../shared/panelProtocol';
import { Host } from './host';
import { Page } from './page';

const root = document.getElementById('app');
if (!root) throw new Error('The page has no #app element.');
const host = new Host();
const page = new Page(root, host);
// Only the editor can post into this frame; its messages are typed by src/shared/panelProtocol.ts.
window.addEventListener('message', (event: MessageEvent<ToPanel>) => page.receive(event.data));
host.post({ type: 'ready' });
