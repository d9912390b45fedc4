/** Tests `muster setup` on configurations that users have. Nothing here calls an installation. */
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { runMuster } from './muster.ts';

let home: string;
let repository: string;
let programs: string;
beforeEach(async () => {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'muster-setup-')));
  [home, repository, programs] = [`${folder}/home`, `${folder}/repository`, `${folder}/programs`];
  for (const made of [home, path.join(repository, '.git'), path.join(repository, 'src'), programs])
    await mkdir(made, { recursive: true });
});
afterEach(() => rm(path.dirname(home), { recursive: true }));

const recordFilePath = () => path.join(home, '.config/muster/setup.json');

/** Runs the command in a folder of the repository. */
const runSetupWithPath = (searchPath: string, args: readonly string[]) =>
  runMuster(['setup', ...args], {
    cwd: path.join(repository, 'src'),
    env: {
      ...{ HOME: home, XDG_CONFIG_HOME: path.join(home, '.config'), PATH: searchPath },
      MUSTER_BASE_URL: 'https://muster.invalid',
    },
  });
const setup = (...args: string[]) => runSetupWithPath(programs, args);
const runSetupFor = (client: string, ...args: string[]) => setup(client, '--auth', 'token', ...args);

type Files = Readonly<Record<string, string>>;

async function writeFiles(root: string, files: Files): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(root, name)), { recursive: true });
    await writeFile(path.join(root, name), content);
  }
}

/** Reads all files below the folder, except those of `muster` itself. */
async function readFiles(root: string): Promise<Files> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
  const own = names.filter((name) => !name.startsWith(path.dirname(recordFilePath())));
  return Object.fromEntries(
    await Promise.all(
      own.toSorted().map(async (name) => [path.relative(root, name), await readFile(name, 'utf8')]),
    ),
  ) as Files;
}

const codexToml = '# mine\nmodel = "gpt" # the best\n\n[mcp_servers.other]\nurl = "https://other.example"';

/** Files that users of the clients have, with comments, other servers and other hooks. */
const projects: Readonly<Record<string, Files>> = {
  claude: {
    '.mcp.json':
      '{\n  "mcpServers": {\n    "github": { "type": "http", "url": "https://github.example/mcp" }\n  }\n}\n',
    '.claude/settings.json': `{
\t"permissions": { "allow": ["Bash(npm test:*)"] },
\t"hooks": {
\t\t"PreToolUse": [{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "./guard.sh" }] }],
\t\t"Stop": []
\t}
}`,
    '.claude/skills/other/SKILL.md': '---\nname: other\n---\n',
    'CLAUDE.md': '# Notes\n\nUse tabs.',
  },
  codex: {
    '.codex/config.toml': codexToml,
    '.codex/hooks.json': '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"say done"}]}]}}\n',
    'AGENTS.md': '# Rules\r\n\r\nNo tabs.\r\n\r\n',
  },
  cursor: {
    '.cursor/mcp.json':
      '{\n  // what I use\n  "mcpServers": {\n    "other": { "command": "x" }, /* mine */\n  },\n}\n',
    '.cursor/hooks.json': '{ "version": 1, "hooks": {} }\n',
  },
  gemini: {
    '.gemini/settings.json': `{
  // The theme of the team.
  "theme": "Default",
  "mcpServers": {},
  "hooks": {
    "BeforeTool": [
      { "matcher": "run_shell_command", "hooks": [{ "type": "command", "command": "./guard.sh" }] }
    ]
  }
}
`,
    'GEMINI.md': '# Gemini\n',
  },
  copilot: {
    '.github/mcp.json': '\uFEFF{ "mcpServers": { "other": { "type": "local", "command": "x" } } }',
    '.github/hooks/other.json': '{ "version": 1, "hooks": {} }\n',
    'AGENTS.md': 'Be brief.\n',
  },
  opencode: {
    'opencode.json':
      '{\n    "$schema": "https://opencode.ai/config.json",\n    // models\n    "model": "a/b"\n}\n',
    '.opencode/plugins/mine.js': 'export const Mine = async () => ({});\n',
  },
  vscode: {
    '.vscode/mcp.json':
      '{\n\t"inputs": [\n\t\t{ "id": "key", "type": "promptString", "description": "Key" }\n\t],\n\t"servers": {}\n}\n',
    '.vscode/settings.json': '{}\n',
  },
};
const clients = Object.keys(projects);

describe.each(clients)('in a repository with files of %s', (client) => {
  const original = projects[client] ?? {};

  it('is added once, checked, and removed without a trace', async () => {
    await writeFiles(repository, original);
    expect(await setup(client, '--check')).toMatchObject({
      code: 1,
      out: expect.stringContaining('missing'),
    });
    expect(await runSetupFor(client, '--project', 'web')).toMatchObject({ code: 0, err: '' });
    const after = await readFiles(repository);
    expect(Object.values(after).join('\n')).toContain('https://muster.invalid/api/mcp?mode=core&project=WEB');
    expect(Object.values(after).join('\n')).toMatch(/muster hook before-edit|runHook\('before-edit'/);
    expect(Object.keys(after).filter((name) => name.endsWith('skills/muster/SKILL.md'))).toHaveLength(1);
    expect(await setup(client, '--check')).toMatchObject({
      code: 0,
      out: expect.not.stringContaining('missing'),
    });

    expect((await runSetupFor(client, '--project', 'web')).out).not.toMatch(/ (added|updated)$/m);
    expect(await readFiles(repository)).toEqual(after);

    // Other options replace what was added, and the original can still be restored.
    expect((await runSetupFor(client, '--strict')).out).toMatch(/hooks .* updated$/m);
    expect(await setup(client, '--remove')).toMatchObject({ code: 0, err: '' });
    expect(await readFiles(repository)).toEqual(original);
    expect((await setup(client, '--remove')).out).not.toMatch(/ removed$/m);
  });

  it('is removed from files that changed since then, which keep everything else', async () => {
    await writeFiles(repository, original);
    await runSetupFor(client);
    await rm(recordFilePath());
    await setup(client, '--remove');
    const left = await readFiles(repository);
    expect(Object.values(left).join('\n')).not.toContain('muster');
    for (const word of [
      'guard.sh',
      '"other"',
      '// what I use',
      '/* mine */',
      '// models',
      'No tabs.',
      'say done',
    ]) {
      const hasWord = (files: Files): boolean =>
        Object.values(files).some((content) => content.includes(word));
      expect([word, hasWord(left)]).toEqual([word, hasWord(original)]);
    }
  });

  it('creates its files where there are none, and deletes them', async () => {
    await runSetupFor(client);
    expect(Object.keys(await readFiles(repository)).length).toBeGreaterThanOrEqual(3);
    await setup(client, '--remove');
    expect(await readFiles(repository)).toEqual({});
    expect((await readdir(repository)).toSorted()).toEqual(['.git', 'src']);
  });
});

it.each(clients)('writes the files of %s in the home folder for one person', async (client) => {
  const before = { '.gitconfig': '[user]\n' };
  await writeFiles(home, before);
  expect(await runSetupFor(client, '--scope', 'user')).toMatchObject({ code: 0, err: '' });
  expect(await readFiles(repository)).toEqual({});
  expect(Object.values(await readFiles(home)).join('\n')).toMatch(
    /muster hook stop|'hook', name, 'opencode'/,
  );
  expect((await setup(client, '--scope', 'user', '--check')).code).toBe(0);
  await setup(client, '--scope', 'user', '--remove');
  expect(await readFiles(home)).toEqual(before);
});

it('writes no token, but the name of the variable', async () => {
  for (const client of clients) await runSetupFor(client);
  const all = Object.values(await readFiles(repository)).join('\n');
  expect(all).toContain('MUSTER_TOKEN');
  expect(all).not.toContain('must_live_');
});

it('keeps files that another client uses until that client is removed too', async () => {
  for (const client of ['codex', 'opencode', 'copilot', 'vscode']) await runSetupFor(client);
  const removed = await setup('codex', '--remove');
  expect(removed.out).toMatch(/skill .* kept$/m);
  expect(removed.out).toMatch(/MCP server .* removed$/m);
  await setup('copilot', '--remove');
  expect((await setup('vscode', '--check')).code).toBe(0);
  expect((await setup('opencode', '--check')).code).toBe(0);
  await setup('vscode', '--remove');
  await setup('opencode', '--remove');
  expect(await readFiles(repository)).toEqual({});
});

it('does not restore an earlier version of itself', async () => {
  await runSetupFor('claude', '--project', 'WEB');
  const settings = path.join(repository, '.claude/settings.json');
  await writeFile(settings, (await readFile(settings, 'utf8')).replace('{', '{ "model": "opus",'));
  await runSetupFor('claude', '--project', 'DOCS');
  await setup('claude', '--remove');
  expect(JSON.parse(await readFile(settings, 'utf8'))).toEqual({ model: 'opus' });
});

it("leaves a person's own hooks in a group with a hook of Muster", async () => {
  await runSetupFor('claude');
  const settings = path.join(repository, '.claude/settings.json');
  const { hooks } = JSON.parse(await readFile(settings, 'utf8')) as {
    hooks: { Stop: [{ hooks: object[] }] };
  };
  const own = { type: 'command', command: 'say done' };
  hooks.Stop[0].hooks.push(own);
  await writeFile(settings, JSON.stringify({ hooks }));
  await setup('claude', '--remove');
  expect(JSON.parse(await readFile(settings, 'utf8'))).toEqual({ hooks: { Stop: [{ hooks: [own] }] } });
});

it('reports an outdated skill and updates it', async () => {
  await runSetupFor('claude');
  const skill = path.join(repository, '.claude/skills/muster/SKILL.md');
  const text = await readFile(skill, 'utf8');
  await writeFile(skill, text.replace('# Working', '# Work'));
  expect(await setup('claude', '--check')).toMatchObject({
    code: 1,
    out: expect.stringMatching(/skill .* outdated$/m),
  });
  expect((await runSetupFor('claude')).out).toMatch(/skill .* updated$/m);
  expect(await readFile(skill, 'utf8')).toBe(text);
});

it('recognizes the entry that the own command of Gemini CLI writes', async () => {
  const headers = { Authorization: 'Bearer ${MUSTER_TOKEN}' };
  const muster = { url: 'https://muster.invalid/api/mcp?mode=core', type: 'http', headers };
  await writeFiles(home, { '.gemini/settings.json': JSON.stringify({ mcpServers: { muster } }) });
  expect((await runSetupFor('gemini', '--scope', 'user')).out).toMatch(/MCP server .* unchanged$/m);
  expect((await runSetupFor('gemini', '--scope', 'user', '--project', 'WEB')).out).toMatch(
    /MCP server .* updated$/m,
  );
});

it('gives Gemini CLI no hook before compaction, which it would call before each request', async () => {
  await runSetupFor('gemini');
  const text = await readFile(path.join(repository, '.gemini/settings.json'), 'utf8');
  const { hooks } = JSON.parse(text) as { hooks: object };
  expect(Object.keys(hooks)).toEqual(['SessionStart', 'AfterAgent', 'BeforeTool']);
});

it('changes nothing if a file cannot be parsed', async () => {
  const broken = { '.cursor/mcp.json': '{ "mcpServers": ' };
  await writeFiles(repository, broken);
  expect(await runSetupFor('cursor')).toMatchObject({
    code: 2,
    err: expect.stringContaining('so it was not changed'),
  });
  expect(await readFiles(repository)).toEqual(broken);
});

it('follows links within the repository, and none that lead out of it', async () => {
  await writeFiles(repository, { 'AGENTS.md': '# Rules\n' });
  await symlink('AGENTS.md', path.join(repository, 'CLAUDE.md'));
  expect((await runSetupFor('claude')).code).toBe(0);
  expect(await readFile(path.join(repository, 'AGENTS.md'), 'utf8')).toContain(
    '# Rules\n\n<!-- muster:start',
  );
  await setup('claude', '--remove');
  expect(await readFile(path.join(repository, 'AGENTS.md'), 'utf8')).toBe('# Rules\n');
  await rm(path.join(repository, 'CLAUDE.md'));
  await writeFile(path.join(home, '.profile'), 'true\n');
  await symlink(path.join(home, '.profile'), path.join(repository, 'CLAUDE.md'));
  const refused = { code: 2, err: expect.stringContaining('outside of the repository') };
  expect(await runSetupFor('claude')).toMatchObject(refused);
  expect(await readFile(path.join(home, '.profile'), 'utf8')).toBe('true\n');
});

it('refuses --check together with --remove', async () => {
  expect(await setup('claude', '--check', '--remove')).toMatchObject({ code: 2 });
});

describe('the command of a hook', () => {
  const run = promisify(execFile);

  /** Runs the hook before an edit as Claude Code does, by a shell. */
  async function runEditHook(): Promise<{ code: number; out: string }> {
    const text = await readFile(path.join(repository, '.claude/settings.json'), 'utf8');
    const { hooks } = JSON.parse(text) as { hooks: { PreToolUse: [{ hooks: [{ command: string }] }] } };
    const [{ command }] = hooks.PreToolUse[0].hooks;
    const env = { PATH: programs };
    return run('/bin/sh', ['-c', command], { env }).then(
      ({ stdout }) => ({ code: 0, out: stdout }),
      (error: unknown) => {
        const { code, stderr } = error as { code: number; stderr: string };
        return { code, out: stderr };
      },
    );
  }

  it('runs muster, and does nothing for those who have not installed it', async () => {
    await runSetupFor('claude', '--project', 'WEB');
    expect(await runEditHook()).toEqual({ code: 0, out: '' });
    await writeFile(path.join(programs, 'muster'), '#!/bin/sh\necho "$@"\n');
    await chmod(path.join(programs, 'muster'), 0o755);
    expect(await runEditHook()).toEqual({
      code: 0,
      out: 'hook before-edit claude --base-url https://muster.invalid --project WEB\n',
    });
  });

  it('refuses the edit without muster if it is strict', async () => {
    await runSetupFor('claude', '--strict');
    expect(await runEditHook()).toEqual({ code: 2, out: expect.stringContaining('not installed') });
  });
});

describe('the pre-commit hook of git', () => {
  const run = promisify(execFile);
  const searchPath = () => `${programs}:${process.env['PATH'] ?? ''}`;
  const setupGit = (...args: string[]) => runSetupWithPath(searchPath(), ['git', ...args]);
  const git = (...args: string[]) =>
    run('git', ['-c', 'user.name=Ana', '-c', 'user.email=ana@example.com', ...args], {
      cwd: repository,
      env: { PATH: searchPath(), HOME: home },
    });
  const hookFile = () => path.join(repository, '.git/hooks/pre-commit');
  const installMuster = async (exitCode: number): Promise<void> => {
    const file = path.join(programs, 'muster');
    await writeFile(file, `#!/bin/sh\necho "$@" >> ${programs}/calls\nexit ${exitCode}\n`);
    await chmod(file, 0o755);
  };
  beforeEach(async () => {
    await rm(path.join(repository, '.git'), { recursive: true });
    await git('init', '--quiet', '--template=');
  });

  it('asks Muster before each commit, and is removed without a trace', async () => {
    expect(await setupGit('--project', 'WEB')).toMatchObject({ code: 0, err: '' });
    expect((await setupGit('--check')).code).toBe(0);
    await git('commit', '--allow-empty', '-m', 'without muster');
    await installMuster(0);
    await git('commit', '--allow-empty', '-m', 'allowed');
    expect(await readFile(path.join(programs, 'calls'), 'utf8')).toBe(
      'hook pre-commit git --base-url https://muster.invalid --project WEB\n',
    );
    await installMuster(1);
    await expect(git('commit', '--allow-empty', '-m', 'refused')).rejects.toThrow('git');
    expect((await git('log', '--format=%s')).stdout).toBe('allowed\nwithout muster\n');
    await setupGit('--remove');
    await expect(readFile(hookFile())).rejects.toThrow('ENOENT');
  });

  it('runs before the lines of a hook that exists, and leaves them', async () => {
    const own = '#!/bin/bash\n# my checks\necho own >> own\nexit 0\n';
    await writeFiles(repository, { '.git/hooks/pre-commit': own });
    await chmod(hookFile(), 0o755);
    await setupGit();
    await installMuster(1);
    await expect(git('commit', '--allow-empty', '-m', 'refused')).rejects.toThrow('git');
    await installMuster(0);
    await git('commit', '--allow-empty', '-m', 'allowed');
    expect(await readFile(path.join(repository, 'own'), 'utf8')).toBe('own\n');
    await rm(recordFilePath());
    await setupGit('--remove');
    expect(await readFile(hookFile(), 'utf8')).toBe(own);
  });

  it('is not added to a program in another language', async () => {
    await writeFiles(repository, { '.git/hooks/pre-commit': '#!/usr/bin/env python3\n' });
    expect(await setupGit()).toMatchObject({
      code: 2,
      err: expect.stringContaining('is not a shell script'),
    });
  });
});

describe('the plugin of Claude Code', () => {
  it('has the server, the hooks and the skill, and a marketplace that offers it', async () => {
    const folder = path.join(repository, 'published');
    expect(await runSetupFor('claude', '--project', 'WEB', '--plugin', folder)).toMatchObject({
      code: 0,
      err: '',
    });
    const files = await readFiles(folder);
    const parsed = (name: string): unknown => JSON.parse(files[name] ?? '');
    expect(parsed('.claude-plugin/marketplace.json')).toMatchObject({
      ...{ name: 'muster', owner: { name: 'Muster' } },
      plugins: [{ name: 'muster', source: './plugins/muster' }],
    });
    expect(parsed('plugins/muster/.claude-plugin/plugin.json')).toMatchObject({ name: 'muster' });
    expect(parsed('plugins/muster/.mcp.json')).toMatchObject({
      mcpServers: { muster: { type: 'http', url: 'https://muster.invalid/api/mcp?mode=core&project=WEB' } },
    });
    const { hooks } = parsed('plugins/muster/hooks/hooks.json') as { hooks: Record<string, unknown> };
    expect(Object.keys(hooks)).toEqual(['SessionStart', 'PreCompact', 'Stop', 'PreToolUse']);
    await runSetupFor('claude');
    expect(files['plugins/muster/skills/muster/SKILL.md']).toBe(
      await readFile(path.join(repository, '.claude/skills/muster/SKILL.md'), 'utf8'),
    );
    expect((await runSetupFor('claude', '--plugin', folder)).code).toBe(0);
    expect(await runSetupFor('claude', '--plugin', repository)).toMatchObject({ code: 2 });
    expect(await runSetupFor('codex', '--plugin', folder)).toMatchObject({ code: 2 });
  });
});

describe('the plugin of OpenCode', () => {
  /** Loads the plugin with a client that prints what it is asked, and runs the steps. */
  async function runPlugin(steps: string): Promise<string[]> {
    const script = `
      const { MusterPlugin } = await import(${JSON.stringify(path.join(repository, '.opencode/plugins/muster.js'))});
      const client = {
        tui: { showToast: async ({ body }) => console.log('toast', body.message) },
        session: { prompt: async ({ path, body }) => console.log('prompt', path.id, body.noReply, body.parts[0].text) },
      };
      const hooks = await MusterPlugin({ client, directory: ${JSON.stringify(repository)} });
      const edit = (tool, args) => hooks['tool.execute.before']({ tool }, { args }).then(
        () => console.log('allowed'), (error) => console.log('denied', error.message));
      ${steps}`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
      env: { PATH: programs },
    });
    return stdout.trim().split('\n');
  }

  const answering = async (answer: object): Promise<void> => {
    const file = path.join(programs, 'muster');
    await writeFile(file, `#!/bin/sh\n/bin/cat > ${programs}/input\necho '${JSON.stringify(answer)}'\n`);
    await chmod(file, 0o755);
  };

  it('asks before an edit, and refuses it with the reason', async () => {
    await runSetupFor('opencode');
    await answering({ deny: 'Ben holds a.ts' });
    expect(
      await runPlugin("await edit('edit', { filePath: 'a.ts' }); await edit('read', { filePath: 'a.ts' });"),
    ).toEqual(['denied Ben holds a.ts', 'allowed']);
    expect(JSON.parse(await readFile(path.join(programs, 'input'), 'utf8'))).toEqual({
      ...{ cwd: repository, tool_name: 'edit', tool_input: { filePath: 'a.ts' } },
    });
    await answering({ warning: 'No answer' });
    expect(await runPlugin("await edit('write', { filePath: 'a.ts' });")).toEqual([
      'toast No answer',
      'allowed',
    ]);
  });

  it('adds what is held to new sessions and to compaction', async () => {
    await runSetupFor('opencode');
    await answering({ context: 'You hold WEB-1' });
    expect(
      await runPlugin(`
        await hooks.event({ event: { type: 'session.created', properties: { info: { id: 's1' } } } });
        await hooks.event({ event: { type: 'session.created', properties: { info: { id: 's2', parentID: 's1' } } } });
        const output = { context: [] };
        await hooks['experimental.session.compacting']({}, output);
        console.log(output.context.join());`),
    ).toEqual(['prompt s1 true You hold WEB-1', 'You hold WEB-1']);
    await answering({ message: 'Write a checkpoint' });
    expect(
      await runPlugin(
        "await hooks.event({ event: { type: 'session.idle', properties: { sessionID: 's1' } } });",
      ),
    ).toEqual(['toast Write a checkpoint']);
  });

  it('allows edits without muster, unless it is strict', async () => {
    await runSetupFor('opencode');
    expect(await runPlugin("await edit('edit', { filePath: 'a.ts' });")).toEqual(['allowed']);
    await runSetupFor('opencode', '--strict');
    expect(await runPlugin("await edit('edit', { filePath: 'a.ts' });")).toEqual([
      expect.stringContaining('denied The muster command did not run'),
    ]);
  });
});
