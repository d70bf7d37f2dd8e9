import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { commandIds, panelViewId, settingKeys, viewContainerId } from '../../src/shared/manifest';
import { ourExtension } from './ourExtension';

interface Contributes {
  commands: { command: string; title: string }[];
  views: Record<string, { id: string }[]>;
  viewsContainers: { activitybar: { id: string }[] };
  configuration: { properties: Record<string, unknown> };
}

describe('the extension', () => {
  it('activates', async () => {
    await ourExtension().activate();
    assert.equal(ourExtension().isActive, true);
  });

  it('registers each of its commands', async () => {
    await ourExtension().activate();
    const registered = await vscode.commands.getCommands(true);
    for (const id of Object.values(commandIds)) assert.ok(registered.includes(id), `${id} is not registered`);
  });

  it('contributes exactly the ids the code uses', () => {
    const { contributes } = ourExtension().packageJSON as { contributes: Contributes };
    // VS Code itself makes the command that shows a view.
    const ownCommands = Object.values(commandIds).filter((id) => id !== commandIds.focusPanel);
    assert.deepEqual(contributes.commands.map(({ command }) => command).sort(), ownCommands.sort());
    assert.deepEqual(
      contributes.viewsContainers.activitybar.map(({ id }) => id),
      [viewContainerId],
    );
    assert.deepEqual(
      contributes.views[viewContainerId]?.map(({ id }) => id),
      [panelViewId],
    );
    const properties = Object.keys(contributes.configuration.properties);
    for (const key of Object.values(settingKeys)) assert.ok(properties.includes(key), `${key} is not contributed`);
  });

  it('has a text for every title of the manifest', () => {
    const { contributes } = ourExtension().packageJSON as { contributes: Contributes };
    for (const { command, title } of contributes.commands) {
      assert.ok(title.length > 0 && !title.startsWith('%'), `${command} has the title ${title}`);
    }
  });

  it('shows its panel', async () => {
    await vscode.commands.executeCommand(commandIds.focusPanel);
  });
});
