/**
 * Generates the answers of the contract's examples for the reference. Each example is called in its own
 * organization.
 */
import { migrate } from '@muster/migrations';
import { handlers, performableHandlers, reactions, withInternalHandlers } from '@muster/operations';
import { operations } from '@muster/registry';
import { exampleCallerOf, createExampleOrg } from '@muster/examples';
import { openTestDatabase, openWorld } from '@muster/testing/world';
import { formatted, startPostgres } from '@muster/tools';
import { shown } from './shown-answer.ts';

export const answersFile = 'libs/reference/src/answers.generated.ts';

/** Returns the text of the generated file with the answers. */
export async function answersText(): Promise<string> {
  const postgres = await startPostgres({ durable: false });
  try {
    await migrate(postgres.url);
    return await answersOn(postgres.url);
  } finally {
    await postgres.stop();
  }
}

async function answersOn(databaseUrl: string): Promise<string> {
  const all = performableHandlers(handlers);
  const database = openTestDatabase(databaseUrl, 'muster-generate');
  const world = openWorld(database, withInternalHandlers(handlers), reactions);
  try {
    const answers: [string, string][] = [];
    // Operations on the whole installation are called first, because later the installation contains an
    // organization for each called operation.
    const ordered = [...operations.values()].toSorted(
      (a, b) => Number(b.access.kind === 'platform') - Number(a.access.kind === 'platform'),
    );
    for (const operation of ordered) {
      const handler = all.get(operation.name);
      if (handler === undefined) throw new Error(`${operation.name} has no handler`);
      const org = await createExampleOrg(world);
      const { json } = await world.call(exampleCallerOf(operation, org), handler, operation.example);
      answers.push([operation.name, JSON.stringify(shown(JSON.parse(json), new Date()), null, 2)]);
    }
    return await formatted(
      answersFile,
      `/** What the contract's examples answer. */
export const answers: Readonly<Record<string, string>> = ${JSON.stringify(Object.fromEntries(answers))};`,
    );
  } finally {
    await world.close();
  }
}
