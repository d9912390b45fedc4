// npm run clients [-- --write]: real clients of MCP against the gateway, in core mode: how each opens, what it lists,
// whether a call and a refusal arrive whole, and what it says to a bad token. They are installed in exact versions, in a
// folder of their own. They run on the instance of `npm start`, else on one that is brought up. --write puts the table
// into docs/mcp-clients-tried.md.
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { repositoryRoot } from '../../dev/repository.ts';
import { startThrowAwayApp } from '../../dev/throw-away-app.ts';
import { findInstance } from '../find-instance.ts';
import { Journal } from '../journal.ts';
import { show } from '../show.ts';
import { foundTeam } from '../team.ts';
import { modelClients } from './model-clients.ts';
import { installClients } from './packages.ts';
import { probes } from './probes.ts';
import { tryModelClient } from './trying-models.ts';
import { table, type Tried, tryProbe } from './trying.ts';

/** Of the connection's list. */
async function namesOfTools(url: string, token: string): Promise<string[]> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
  const { result } = z
    .object({ result: z.object({ tools: z.array(z.object({ name: z.string() })) }) })
    .parse(await answer.json());
  return result.tools.map(({ name }) => name);
}

async function run(write: boolean): Promise<boolean> {
  show('Installing the clients, where they are not there yet …');
  await installClients();
  const instance = await findInstance();
  const gateway =
    instance.mcpUrl === null
      ? await startThrowAwayApp('mcp-gateway', {
          log: 'warn',
          environment: { COORDINATION_API_URL: instance.baseUrl },
        })
      : undefined;
  try {
    const mcpUrl = instance.mcpUrl ?? `${gateway?.url}/api/mcp`;
    const orgSlug = `clients-${randomBytes(4).toString('hex')}`;
    const { scout } = await foundTeam(instance, new Journal(instance.baseUrl, orgSlug), orgSlug);
    const tried: Tried[] = [];
    for (const probe of probes) {
      show(`  ${probe.name} …`);
      tried.push(await tryProbe(probe, `${mcpUrl}/core`, scout.token));
    }
    const ours = await namesOfTools(`${mcpUrl}/core`, scout.token);
    for (const client of modelClients) {
      show(`  ${client.name} …`);
      tried.push(await tryModelClient(client, `${mcpUrl}/core`, scout.token, ours));
    }
    const shown = table(tried);
    show(`\n${shown}`);
    for (const { name, trouble } of tried) if (trouble !== undefined) show(`\n${name}: ${trouble}`);
    if (write)
      await writeFile(
        path.join(repositoryRoot, 'docs/mcp-clients-tried.md'),
        `# MCP clients, tried\n\nWritten by \`npm run clients -- --write\`: each connects to a gateway in core mode as its users set it up, lists the\ntools, makes a call, and makes one that is refused. Coding agents have a stub in place of their model, which chooses these calls;\nthe answers count where that model got them. Claude Code tells its model of tools by name alone until it looks one up.\n\nClaude Desktop, claude.ai, ChatGPT, Cursor, VS Code and JetBrains are not among them: they need a screen or an account.\n\n${shown}\n`,
      );
    return tried.every(({ trouble }) => trouble === undefined);
  } finally {
    await gateway?.stop();
    await instance.stop();
  }
}

const { values } = parseArgs({ options: { write: { type: 'boolean', default: false } } });
process.exitCode = await run(values.write).then(
  (fine) => (fine ? 0 : 1),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  },
);
