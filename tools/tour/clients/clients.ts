// npm run clients [-- --write]: real clients of MCP against the gateway, in core mode: how each opens, what it lists,
// whether a call and a refusal arrive whole, and what it says to a bad token. They are installed in exact versions, in a
// folder of their own. They run on the instance of `npm start`, else on one that is brought up. --write puts the table
// into docs/mcp-clients-tried.md.
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { repositoryRoot } from '../../dev/repository.ts';
import { startThrowAwayApp } from '../../dev/throw-away-app.ts';
import { findInstance } from '../find-instance.ts';
import { Journal } from '../journal.ts';
import { show } from '../show.ts';
import { foundTeam } from '../team.ts';
import { installClients } from './packages.ts';
import { probes } from './probes.ts';
import { table, type Tried, tryProbe } from './trying.ts';

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
    const shown = table(tried);
    show(`\n${shown}`);
    for (const { name, trouble } of tried) if (trouble !== undefined) show(`\n${name}: ${trouble}`);
    if (write)
      await writeFile(
        path.join(repositoryRoot, 'docs/mcp-clients-tried.md'),
        `# MCP clients, tried\n\nWritten by \`npm run clients -- --write\`: each connects to a gateway in core mode as its users set it up, lists the\ntools, makes a call, and makes one that is refused. Their models are not asked.\n\n${shown}\n`,
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
