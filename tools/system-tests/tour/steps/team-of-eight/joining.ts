import { Check } from '../../check.ts';
import {
  answerTo,
  type Eight,
  type EightStep,
  emailOf,
  expectNotice,
  firstSeats,
  person,
  roles,
} from './eight.ts';
import { joinByMail } from './mailbox.ts';

/** The owner invites an admin, who invites the others. Each of them joins by the link in their e-mail. */
export const joining: EightStep = {
  name: 'Six come in by e-mail',
  run: async (eight) => {
    const hanna = person(eight, 'Hanna');
    await hanna.api.members.invite({ email: emailOf(eight, 'Ivo'), role: 'admin' });
    await joinByMail(eight, 'Ivo');
    expectNotice(eight, 'invitation_accepted', 'Hanna');

    const { api } = person(eight, 'Ivo');
    const { team } = await api.teams.create({ name: 'Riders', description: 'All that moves' });
    eight.ids.set('team', team.id);
    for (const name of ['Jana', 'Kofi'] as const)
      await api.members.invite({ email: emailOf(eight, name), teamIds: [team.id] });
    for (const name of ['Lea', 'Milo'] as const) await api.members.invite({ email: emailOf(eight, name) });
    await api.members.invite({ email: emailOf(eight, 'Omar'), role: 'viewer' });
    for (const name of ['Jana', 'Kofi', 'Lea', 'Milo', 'Omar'] as const) {
      await joinByMail(eight, name);
      expectNotice(eight, 'invitation_accepted', 'Ivo');
    }
    eight.checks.push(await checkMembers(eight));
    return `an admin, four members and a viewer, in ${firstSeats} seats`;
  },
};

async function checkMembers(eight: Eight): Promise<Check> {
  const found = new Check('an invitation lets a person in with the role and the teams it names');
  const { api } = person(eight, 'Hanna');
  const { items: members } = await api.members.list({ limit: 50 });
  const wanted = [...eight.joined.keys()].toSorted().map((name) => [name, roles[name]]);
  found.same(
    members.map(({ name, role }) => [name, role]),
    wanted,
    'the members with their roles',
  );
  const { items: riders } = await api.teams.members.list({ teamId: eight.ids.get('team') ?? '' });
  found.same(riders.map(({ name }) => name).toSorted(), ['Jana', 'Kofi'], 'the members of the team');
  const inviteAgain = person(eight, 'Ivo').api.members.invite({ email: emailOf(eight, 'Jana') });
  found.same(await answerTo(inviteAgain), '409 already_exists', 'the answer to a second invitation');
  found.detail = `${members.length} members`;
  return found;
}
