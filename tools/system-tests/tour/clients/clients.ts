// npm run clients [-- --write] [-- --sign-in]: tries real MCP clients against the gateway in core mode.
// For each client it records the first message, the listed tools, the call and the refusal as they arrived,
// the number of calls until a stub model has submitted its work, and the reaction to a bad token. The clients
// are installed in exact versions, in a separate folder. They use the instance of `npm start`, or a temporary
// one. --write puts the table into docs/mcp-clients-tried.md, and the messages of the coding agents into
// transcripts.json.
// --sign-in tries clients with their own login instead. They sign in with only the bare address, at a
// temporary installation, where a person approves them in a real browser.
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { exitCodeOf } from '@muster/tools';
import { z } from 'zod';
import { findInstance } from '../instance.ts';
import { Journal } from '../journal.ts';
import { show } from '../show.ts';
import { foundTeam } from '../team.ts';
import { modelClients } from './model-clients.ts';
import { installClients } from './packages.ts';
import { writeTable } from './page.ts';
import { probes } from './probes.ts';
import { signingClients } from './signing-in/clients.ts';
import { bringUpSigningIn } from './signing-in/installation.ts';
import { openPerson } from './signing-in/person.ts';
import { type SignedInClient, signingTable, trySigningIn } from './signing-in/signing-in.ts';
import { projectKey } from './stub-model.ts';
import { type Transcript, writeTranscripts } from './transcripts.ts';
import { tryModelClient } from './trying-models.ts';
import { table, type ClientTrial, tryProbe } from './trying.ts';

/** Lists the names of the tools on this connection. */
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

/** Prints the results. Returns true if no trial had a problem. */
function showTrials(
  tried: readonly { readonly name: string; readonly trouble?: string }[],
  shown: string,
): boolean {
  show(`\n${shown}`);
  const troubled = tried.filter(({ trouble }) => trouble !== undefined);
  for (const { name, trouble } of troubled) show(`\n${name}: ${trouble}`);
  return troubled.length === 0;
}

async function run(write: boolean): Promise<boolean> {
  const instance = await findInstance();
  const { mcpUrl } = instance;
  try {
    const orgSlug = `clients-${randomBytes(4).toString('hex')}`;
    const { ana, scout } = await foundTeam(instance, new Journal(instance.baseUrl, orgSlug), orgSlug);
    const tried: ClientTrial[] = [];
    for (const probe of probes) {
      show(`  ${probe.name} …`);
      tried.push(await tryProbe(probe, `${mcpUrl}/core`, scout.token));
    }
    const ours = await namesOfTools(`${mcpUrl}/core`, scout.token);
    await ana.api.projects.create({ key: projectKey, name: 'Clients' });
    const transcripts = new Map<string, Transcript>();
    for (const client of modelClients) {
      show(`  ${client.name} …`);
      await ana.api.stories.create({ projectId: projectKey, title: client.name, status: 'ready' });
      const trial = await tryModelClient(client, `${mcpUrl}/core`, scout.token, ours);
      tried.push(trial);
      if ('program' in client) transcripts.set(client.name, trial.transcript);
    }
    if (write) await Promise.all([writeTable('token', table(tried)), writeTranscripts(transcripts)]);
    return showTrials(tried, table(tried));
  } finally {
    await instance.stop();
  }
}

async function signIn(write: boolean): Promise<boolean> {
  const installation = await bringUpSigningIn();
  const person = await openPerson(installation.baseUrl);
  try {
    const tried: SignedInClient[] = [];
    for (const client of signingClients) {
      show(`  ${client.name} …`);
      tried.push(await trySigningIn(client, installation, person));
    }
    if (write) await writeTable('sign-in', signingTable(tried));
    return showTrials(tried, signingTable(tried));
  } finally {
    await person.close();
    await installation.stop();
  }
}

show('Installing the clients, where they are not there yet …');
await installClients();
const { values } = parseArgs({
  options: { write: { type: 'boolean', default: false }, 'sign-in': { type: 'boolean', default: false } },
});
process.exitCode = await exitCodeOf((values['sign-in'] ? signIn : run)(values.write));
