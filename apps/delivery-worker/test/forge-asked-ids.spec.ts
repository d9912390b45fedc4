/** The worker asks the forge for the id of a repository that was linked by its URL. */
import { describe, expect, it } from '@jest/globals';
import { acmeRepository, pullEvent, shaOf } from '@muster/testing/github';
import { pullRequest, useForgeFixture } from './asked-forge.ts';
import { deliver } from './forge-deliveries.ts';

const { world, now, settle, gets } = useForgeFixture();
const a = shaOf('a');

describe('a repository that was linked by its address', () => {
  /** Describes a repository with the fields of all forges; GitLab has different names. */
  const repository = (name: string) => ({
    ...{ id: acmeRepository.id, html_url: `${now.forge.url}/acme/${name}`, full_name: `acme/${name}` },
    ...{
      web_url: `${now.forge.url}/acme/${name}`,
      path_with_namespace: `acme/${name}`,
      default_branch: 'main',
    },
  });
  const link = (connectionId: string, url: string) =>
    now.people.ana.forges.repositories.link({ projectId: 'WEB', connectionId, url });
  const linked = async () =>
    (await now.people.ana.forges.repositories.list({ projectId: 'WEB' })).items.map(
      ({ externalId }) => externalId,
    );

  it.each([
    ['github', '/api/v3/repos/acme/api'],
    ['gitlab', '/api/v4/projects/acme%2Fapi'],
    ['forgejo', '/api/v1/repos/acme/api'],
  ] as const)('is known by the id that %s answers with, also once it is renamed', async (kind, path) => {
    const { connection: made, setup } = await now.people.ana.forges.connect({ kind, baseUrl: now.forge.url });
    now.connection = { id: made.id, kind, secret: setup.secret };
    await link(made.id, `${now.forge.url}/acme/api`);
    await settle();
    expect(now.forge.asked).toEqual([]);
    now.forge.answer({ status: 200, json: repository('api') });
    await now.people.ana.forges.update({ connectionId: made.id, credentials: { token: 't' } });
    await settle();
    expect(gets().map((one) => one.path)).toEqual([path]);
    expect(await linked()).toEqual([String(acmeRepository.id)]);
    if (kind === 'gitlab') return;
    const renamed = pullEvent({ ...pullRequest, repository: repository('core') }, 'opened', a, 1);
    const { outcome } = await deliver(world, now.people, now.connection, renamed);
    expect(outcome).toMatchObject([{ result: 'parked' }]);
  });

  it('is asked for when it is linked to a forge that can be called', async () => {
    const { connection: made } = await now.people.ana.forges.connect({
      ...{ kind: 'gitea', baseUrl: now.forge.url, credentials: { token: 't' } },
    });
    now.forge.answer({ status: 200, json: repository('api') });
    await link(made.id, `${now.forge.url}/acme/api.git`);
    await settle();
    expect(await linked()).toEqual([String(acmeRepository.id)]);
  });
});
