import { type MusterError } from '@muster/client';
import { Check } from '../../check.ts';
import { comesTo, type Eight, type EightStep, idOf, person, refusalOf, tell } from './eight.ts';

const nowhere = '01936d5c-0000-7000-8000-00000000ffff';

/** A team gets a lead and a private project; who is outside asks to come in. */
export const projects: EightStep = {
  name: 'A team works in private',
  run: async (eight) => {
    const team = await leadTeam(eight);
    const secret = await keepPrivate(eight);
    const asked = await askForAccess(eight);
    eight.checks.push(team, secret, asked);
    return 'a team with a lead, a private project, one request approved and one denied';
  },
};

async function leadTeam(eight: Eight): Promise<Check> {
  const found = new Check('the lead of a team leads that team, and nothing more');
  const [ivo, jana, kofi] = [person(eight, 'Ivo'), person(eight, 'Jana'), person(eight, 'Kofi')];
  const [lea, nia] = [person(eight, 'Lea'), person(eight, 'Nia')];
  const teamId = idOf(eight, 'team');
  const add = (by: typeof jana) => by.api.teams.members.add({ teamId, memberId: lea.memberId });
  found.same(await comesTo(add(jana)), '403 role', 'adding to a team before leading it');
  await ivo.api.teams.members.setRole({ teamId, memberId: jana.memberId, role: 'lead' });
  found.same(await comesTo(add(kofi)), '403 role', 'adding to a team without leading it');
  await add(jana);
  found.same(await comesTo(add(jana)), '409 already_exists', 'adding somebody twice');
  await jana.api.teams.update({ teamId, description: 'All that moves, and what it moves' });
  found.same(await comesTo(jana.api.teams.delete({ teamId })), '403 scope', 'a lead deleting the team');
  // Members come in with a token that may not administrate anyway.
  const own = jana.api.teams.create({ name: 'Strollers' });
  found.same(await comesTo(own), '403 scope', 'a lead creating a team');
  const { items } = await nia.api.teams.members.list({ teamId });
  const wanted = [
    ['Jana', 'lead'],
    ['Kofi', 'member'],
    ['Lea', 'member'],
  ];
  found.same(items.map(({ name, role }) => [name, role]).toSorted(), wanted, 'the team');
  found.detail = `${items.length} in the team, 5 attempts refused`;
  return found;
}

async function keepPrivate(eight: Eight): Promise<Check> {
  const found = new Check('a private project is not there for whoever has no role in it');
  const { api } = person(eight, 'Jana');
  const { project } = await api.projects.create({
    ...{ key: 'QUIET', name: 'Not to be spoken of', visibility: 'private' },
  });
  const projectId = project.id;
  eight.ids.set('project', projectId);
  found.same(project.myRole, 'lead', 'the role of the one who made it');
  await api.projects.assignTeam({ projectId, teamId: idOf(eight, 'team'), role: 'contributor' });

  const bare = (refusal: MusterError | undefined): unknown => refusal && { ...refusal.body, requestId: '' };
  for (const name of ['Milo', 'Nia', 'Omar'] as const) {
    const { api: outside } = person(eight, name);
    const [secret, none] = [
      await refusalOf(outside.projects.get({ projectId })),
      await refusalOf(outside.projects.get({ projectId: nowhere })),
    ];
    found.same(secret?.status, 404, `the answer to ${name}, who is outside`);
    found.same(bare(secret), bare(none), `the answer to ${name}, compared with one about no project`);
    found.same(await comesTo(outside.projects.get({ projectId: 'QUIET' })), '404 not_found', 'its key');
    const write = outside.stories.create({ projectId, title: 'May I?' });
    found.that(/^40[34] /.test(await comesTo(write)), () => `${name} wrote into a project they do not see`);
    const { items } = await outside.projects.list();
    found.same(items.length, 0, `the number of projects that ${name} sees`);
  }
  const roles = { Hanna: 'lead', Ivo: 'lead', Kofi: 'contributor', Lea: 'contributor' } as const;
  for (const name of ['Hanna', 'Ivo', 'Kofi', 'Lea'] as const) {
    const { project: seen } = await person(eight, name).api.projects.get({ projectId });
    found.same(seen.myRole, roles[name], `the role of ${name}`);
  }
  const { items } = await api.projects.members.list({ projectId });
  found.same(
    items.map(({ name, via }) => [name, via]),
    [
      ['Hanna', 'org'],
      ['Ivo', 'org'],
      ['Jana', 'direct'],
      ['Kofi', 'team'],
      ['Lea', 'team'],
    ],
    'who is in it, and why',
  );
  found.detail = 'three outside, five inside';
  return found;
}

async function askForAccess(eight: Eight): Promise<Check> {
  const found = new Check('who asks for access is answered once, by a lead of the project');
  const [jana, kofi, milo] = [person(eight, 'Jana'), person(eight, 'Kofi'), person(eight, 'Milo')];
  const [nia, omar] = [person(eight, 'Nia'), person(eight, 'Omar')];
  const projectId = idOf(eight, 'project');
  const message = 'I could review what you do';
  const { accessRequest: asked } = await milo.api.projects.requestAccess({ projectId, message });
  const { accessRequest: again } = await milo.api.projects.requestAccess({ projectId, message });
  found.same([again.id, again.state], [asked.id, 'pending'], 'a request that waits, asked again');
  const { accessRequest: hers } = await nia.api.projects.requestAccess({ projectId: 'QUIET' });
  for (const _ of [asked, hers]) tell(eight, 'access_requested', 'Jana');
  found.same(await comesTo(omar.api.projects.requestAccess({ projectId })), '403 role', 'a viewer asking');
  const had = kofi.api.projects.requestAccess({ projectId });
  found.same(await comesTo(had), '409 already_exists', 'asking for a role one has');

  const approve = { accessRequestId: asked.id, decision: 'approve' } as const;
  const byKofi = kofi.api.projects.accessRequests.resolve(approve);
  found.same(await comesTo(byKofi), '403 role', 'a contributor answering');
  const byNia = nia.api.projects.accessRequests.resolve(approve);
  found.same(await comesTo(byNia), '404 not_found', 'somebody from outside answering');
  const { accessRequest: approved } = await jana.api.projects.accessRequests.resolve(approve);
  found.same(
    [approved.state, approved.resolvedBy?.memberId],
    ['approved', jana.memberId],
    'the request of Milo',
  );
  const twice = jana.api.projects.accessRequests.resolve(approve);
  found.same(await comesTo(twice), '409 already_resolved', 'answering twice');
  const deny = { accessRequestId: hers.id, decision: 'deny', note: 'Not this time' } as const;
  await jana.api.projects.accessRequests.resolve(deny);
  tell(eight, 'access_resolved', 'Milo', 'Nia');

  const { project } = await milo.api.projects.get({ projectId });
  found.same(project.myRole, 'contributor', 'the role of Milo from now on');
  found.same(await comesTo(nia.api.projects.get({ projectId })), '404 not_found', 'the project, to Nia');
  const { items } = await nia.api.notifications.list({ kinds: ['access_resolved'] });
  const told = JSON.stringify(items);
  found.that(!/QUIET|spoken/.test(told), () => `who was turned away learns of the project: ${told}`);
  const { items: waiting } = await jana.api.projects.accessRequests.list({ projectId, state: 'pending' });
  found.same(waiting.length, 0, 'the number of requests that wait');
  found.detail = 'asked twice, approved, denied';
  return found;
}
