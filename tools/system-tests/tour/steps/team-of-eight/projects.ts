import { Check } from '../../check.ts';
import { answerTo, type Eight, type EightStep, expectNotice, idOf, person } from './eight.ts';

/** A team gets a lead and a private project. Two people outside the team request access. */
export const projects: EightStep = {
  name: 'A team works in private',
  run: async (eight) => {
    await leadTeam(eight);
    eight.checks.push(await openPrivateProject(eight), await askForAccess(eight));
    return 'a team with a lead, a private project, one request approved and one denied';
  },
};

async function leadTeam(eight: Eight): Promise<void> {
  const [ivo, jana, lea] = [person(eight, 'Ivo'), person(eight, 'Jana'), person(eight, 'Lea')];
  const teamId = idOf(eight, 'team');
  await ivo.api.teams.members.setRole({ teamId, memberId: jana.memberId, role: 'lead' });
  await jana.api.teams.members.add({ teamId, memberId: lea.memberId });
}

async function openPrivateProject(eight: Eight): Promise<Check> {
  const found = new Check('only members with a role in it see a private project');
  const { api } = person(eight, 'Jana');
  const { project } = await api.projects.create({
    ...{ key: 'QUIET', name: 'Not to be spoken of', visibility: 'private' },
  });
  const projectId = project.id;
  eight.ids.set('project', projectId);
  await api.projects.assignTeam({ projectId, teamId: idOf(eight, 'team'), role: 'contributor' });
  for (const name of ['Milo', 'Nia', 'Omar'] as const) {
    const { projects: seen } = person(eight, name).api;
    found.same(await answerTo(seen.get({ projectId: 'QUIET' })), '404 not_found', `the answer to ${name}`);
    found.same((await seen.list()).items.length, 0, `the number of projects that ${name} sees`);
  }
  const { items } = await api.projects.members.list({ projectId });
  const wanted = [
    ['Hanna', 'org', 'lead'],
    ['Ivo', 'org', 'lead'],
    ['Jana', 'direct', 'lead'],
    ['Kofi', 'team', 'contributor'],
    ['Lea', 'team', 'contributor'],
  ];
  found.same(
    items.map(({ name, via, role }) => [name, via, role]),
    wanted,
    'the members of the project, with their roles',
  );
  found.detail = `${items.length} inside, three outside`;
  return found;
}

async function askForAccess(eight: Eight): Promise<Check> {
  const found = new Check('a lead of the project answers requests for access');
  const [jana, milo, nia] = [person(eight, 'Jana'), person(eight, 'Milo'), person(eight, 'Nia')];
  const projectId = idOf(eight, 'project');
  const ask = async ({ api }: typeof milo): Promise<string> =>
    (await api.projects.requestAccess({ projectId, message: 'I could review your work' })).accessRequest.id;
  const [approved, denied] = [await ask(milo), await ask(nia)];
  const { byKind } = await jana.api.notifications.unreadCount();
  found.same(byKind.access_requested, 2, 'requests that wait for Jana');
  const { resolve } = jana.api.projects.accessRequests;
  await resolve({ accessRequestId: approved, decision: 'approve' });
  await resolve({ accessRequestId: denied, decision: 'deny', note: 'Not this time' });
  expectNotice(eight, 'access_resolved', 'Milo', 'Nia');
  const { project } = await milo.api.projects.get({ projectId });
  found.same(project.myRole, 'contributor', 'the role of Milo afterwards');
  found.same(await answerTo(nia.api.projects.get({ projectId })), '404 not_found', 'the project, to Nia');
  found.detail = 'one approved, one denied';
  return found;
}
