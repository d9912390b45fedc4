/** The plugin of OpenCode, which has no hooks that start a program. */
import { type HookName, type HookOptions, hookWords } from '../hook/names.ts';

/** Returns the options of a hook, without its name and client. */
const optionsOf = (hook: HookName, options: HookOptions): string[] =>
  hookWords(hook, 'opencode', options).slice(3);

export const opencodePlugin = (
  options: HookOptions,
): string => `// Written by \`muster setup opencode\`. \`muster setup opencode --remove\` removes it.
import { spawn } from 'node:child_process';

const options = ${JSON.stringify(optionsOf('stop', options))};
const editOptions = ${JSON.stringify(optionsOf('before-edit', options))};
const isStrict = ${JSON.stringify(options.isStrict)};

/** Runs a hook. The answer is empty if the program is missing or fails. */
const runHook = (name, input, hookOptions = options) =>
  new Promise((resolve) => {
    const child = spawn('muster', ['hook', name, 'opencode', ...hookOptions], {
      stdio: ['pipe', 'pipe', 'ignore'],
      shell: process.platform === 'win32',
    });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stdin.on('error', () => {});
    child.on('error', () => resolve(undefined));
    child.on('close', () => {
      try {
        resolve(JSON.parse(output));
      } catch {
        resolve(undefined);
      }
    });
    child.stdin.end(JSON.stringify(input));
  });

export const MusterPlugin = async ({ client, directory }) => {
  const show = (message) =>
    client.tui.showToast({ body: { message, variant: 'warning' } }).catch(() => {});
  const addContext = async (id) => {
    const { context } = (await runHook('session-start', { cwd: directory })) ?? {};
    if (context === undefined) return;
    const parts = [{ type: 'text', text: context }];
    await client.session.prompt({ path: { id }, body: { noReply: true, parts } }).catch(() => {});
  };
  return {
    event: async ({ event: { type, properties } }) => {
      if (type === 'session.created' && properties.info.parentID === undefined)
        await addContext(properties.info.id);
      if (type === 'session.idle') {
        const { message } = (await runHook('stop', { cwd: directory })) ?? {};
        if (message !== undefined) await show(message);
      }
    },
    'experimental.session.compacting': async (_input, output) => {
      const { context } = (await runHook('pre-compact', { cwd: directory })) ?? {};
      if (context !== undefined) output.context.push(context);
    },
    'tool.execute.before': async ({ tool }, { args }) => {
      if (!/edit|write|patch/.test(tool) || tool.startsWith('todo')) return;
      const input = { cwd: directory, tool_name: tool, tool_input: args };
      const answer = await runHook('before-edit', input, editOptions);
      if (answer?.warning !== undefined) await show(answer.warning);
      if (answer === undefined && isStrict)
        throw new Error('The muster command did not run, so the lock was not checked.');
      if (answer?.deny !== undefined) throw new Error(answer.deny);
    },
  };
};
`;
