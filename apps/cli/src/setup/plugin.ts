/** Writes a plugin of Claude Code and the marketplace that offers it, for a team to publish in a repository. */
import { mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { skillText } from '@muster/reference/skill';
import { productVersion } from '@muster/contract';
import { UsageError } from '@muster/terminal';
import { mcpClientOf } from '../mcp/clients.ts';
import { writeFileAtomically } from '../mcp/install.ts';
import { setupClients } from './clients.ts';
import { type HookEntry } from './hook-entries.ts';
import { type SetupOptions } from './parts.ts';

const description = 'Work with Muster: stories, locks and hand-offs for people and coding agents';
const pluginFolder = 'plugins/muster';
const author = { name: 'Muster' };

const readme = (url: string): string => `# Muster for Claude Code

${description}. The plugin connects Claude Code to the MCP server at ${url}, teaches it the loop of the work with a skill,
and runs hooks: they show what the agent holds, and refuse edits of files that someone else has locked.

Claude Code reads the token from the environment variable MUSTER_TOKEN, or signs in with OAuth if the installation
supports it. The hooks run the command \`muster\`, which has to be installed. The plugin sends nothing to other addresses.
`;

const hooksOf = (entries: readonly HookEntry[]): object =>
  Object.fromEntries(entries.map(({ event, value }) => [event, [value]]));

/** Returns the texts of the files by their paths. */
function pluginFiles({ server, hooks }: SetupOptions): Readonly<Record<string, object | string>> {
  return {
    '.claude-plugin/marketplace.json': {
      ...{ name: 'muster', owner: author, description },
      plugins: [{ name: 'muster', source: `./${pluginFolder}`, description }],
    },
    [`${pluginFolder}/.claude-plugin/plugin.json`]: {
      ...{ name: 'muster', version: productVersion, description, author, license: 'Apache-2.0' },
    },
    [`${pluginFolder}/README.md`]: readme(server.url),
    [`${pluginFolder}/.mcp.json`]: {
      mcpServers: { [server.name]: mcpClientOf('claude').buildEntry(server) },
    },
    [`${pluginFolder}/hooks/hooks.json`]: { hooks: hooksOf(setupClients.claude.hooks.entries(hooks)) },
    [`${pluginFolder}/skills/muster/SKILL.md`]: skillText,
  };
}

/** Writes the plugin into the folder and returns the paths. Throws UsageError if the folder has other files. */
export async function writePlugin(folder: string, options: SetupOptions): Promise<string[]> {
  const files = pluginFiles(options);
  await mkdir(folder, { recursive: true });
  const present = await readdir(folder);
  const isOther = (name: string): boolean =>
    !name.startsWith('.git') && !Object.keys(files).some((file) => file.split('/')[0] === name);
  if (present.some(isOther)) throw new UsageError(`${folder} has other files; name an empty folder`);
  for (const [name, content] of Object.entries(files)) {
    const text = typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`;
    await writeFileAtomically(path.join(folder, name), text);
  }
  return Object.keys(files);
}
