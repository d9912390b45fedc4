/**
 * Tests an upgrade of all services, one container after the other, while callers read and write through the
 * edge.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { connect } from '@muster/client';
import { z } from 'zod';
import { check, type Check } from '../../tour/check.ts';
import { type Instance } from '../../tour/instance.ts';
import { Journal } from '../../tour/journal.ts';
import { foundTeam } from '../../tour/team.ts';
import { type Engine } from './engine.ts';
import { type ComposeInstallation } from './installation.ts';

const Labels = z.array(
  z.object({ Config: z.object({ Labels: z.record(z.string(), z.string()).nullable() }) }),
);
export const versionLabel = 'org.opencontainers.image.version';

/**
 * Reads by plain HTTP without retries. The edge lets a call wait, so the only valid statuses are 200, and 503
 * from the API. The request has no body, because Caddy repeats requests with a body only since 2.11.2 and
 * Debian's version is older.
 */
async function readAllTheWhile(url: string, signal: AbortSignal) {
  const statuses = new Map<string, number>();
  while (!signal.aborted) {
    const status = await fetch(`${url}/.well-known/agents.json`).then(
      async (answer) => {
        await answer.arrayBuffer();
        return `${answer.status}`;
      },
      (error: unknown) => String(error),
    );
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    await wait(50);
  }
  return statuses;
}

/** The steps of an upgrade, as docs/guides/running-it.md describes them. */
const upgrade = [
  ['up', 'migrate', 'migrate-licenses'],
  ['up', '--detach', '--wait'],
];

export async function upgradeUnderCalls(
  engine: Engine,
  installation: ComposeInstallation,
  instance: Instance,
  version: string,
  own: readonly string[],
): Promise<readonly Check[]> {
  const journal = new Journal(instance.baseUrl, 'upgrade');
  const { ana } = await foundTeam(instance, journal, `upgrade-${Date.now().toString(36)}`);
  const api = connect({ baseUrl: instance.baseUrl, token: ana.token });
  const { project } = await api.projects.create({ key: 'UP', name: 'Upgraded' });
  const over = new AbortController();
  const reading = readAllTheWhile(instance.baseUrl, over.signal);
  const written: string[] = [];
  const writing = (async () => {
    const lost: string[] = [];
    for (let number = 1; !over.signal.aborted; number += 1) {
      const title = `Written during the upgrade, ${number}`;
      await api.stories.create({ projectId: project.id, title }).then(
        () => written.push(title),
        (error: unknown) => lost.push(`${title}: ${String(error)}`),
      );
      await wait(100);
    }
    return lost;
  })();
  for (const words of upgrade) await installation.compose(version, ...words);
  over.abort();
  const [statuses, lost] = [await reading, await writing];
  const { items } = await api.stories.list({ projectId: project.id, limit: 200 });
  const kept = items.map(({ title }) => title);

  const versions = check('an upgrade replaces every program of ours', () => `to ${version}`);
  const running = await installation.containers();
  for (const service of own) {
    const [inspected] = Labels.parse(
      JSON.parse(await engine.run('podman', 'inspect', running.get(service) ?? '')),
    );
    versions.same(inspected?.Config.Labels?.[versionLabel], version, `the version of ${service}`);
  }
  const answered = check('no call through the edge is lost to it', (self) => {
    const others = [...statuses].filter(([status]) => !['200', '503'].includes(status));
    self.same(others, [], 'what readers were answered');
    self.same(lost, [], 'what writers were answered');
    self.same(
      written.filter((title) => kept.filter((one) => one === title).length !== 1),
      [],
      'what was not kept once',
    );
    return `${statuses.get('200') ?? 0} reads, ${statuses.get('503') ?? 0} asked to come again, ${written.length} writes`;
  });
  return [versions, answered];
}
