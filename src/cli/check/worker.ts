/** A worker thread of `vram-lens check` (`dist/checkWorker.js`). */
import { parentPort, workerData } from 'node:worker_threads';
import { examine } from './examine';
import { openParser } from './parserFiles';
import type { Answer, Order, WorkerHome } from './workers';

const { home } = workerData as WorkerHome;
const opening = openParser(home);
parentPort?.on('message', ({ index, task }: Order) => {
  void opening.then((parser) => {
    const answer: Answer = { index, result: examine(parser, task) };
    parentPort?.postMessage(answer);
  });
});
