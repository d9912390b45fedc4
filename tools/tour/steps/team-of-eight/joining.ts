import { Check } from '../../check.ts';
import { comesTo, type Eight, type EightStep, emailOf, firstSeats, person, roles, tell } from './eight.ts';
import { accept, comeIn, secretFor } from './mailbox.ts';
import { checkUsage } from './usage.ts';

/** The owner invites an admin, who invites the others; each comes in by the link in their e-mail. */
export const joining: EightStep = {
  name: 'Six come in by e-mail',
  run: async (eight) => {
    const found = new Check('an invitation lets in one person, once, with the role and the teams it names');
    const hanna = person(eight, 'Hanna');
    await hanna.api.members.invite({ email: emailOf(eight, 'Ivo'), role: 'admin' });
    await comeIn(eight, 'Ivo');
    tell(eight, 'invitation_accepted', 'Hanna');

    const { api } = person(eight, 'Ivo');
    const { team } = await api.teams.create({ name: 'Riders', description: 'All that moves' });
    eight.ids.set('team', team.id);
    const another = api.members.invite({ email: emailOf(eight, 'Pia'), role: 'admin' });
    found.same(await comesTo(another), '403 role', 'an admin inviting an admin');
    for (const name of ['Jana', 'Kofi'] as const)
      await api.members.invite({ email: emailOf(eight, name), teamIds: [team.id] });
    for (const name of ['Lea', 'Milo'] as const) await api.members.invite({ email: emailOf(eight, name) });
    // The last seat: the owner is told, and not the one who gave it away.
    tell(eight, 'seat_limit', 'Hanna');
    await checkUsage(eight, found, { purchased: firstSeats, used: 2, pending: 4 });
    await api.members.invite({ email: emailOf(eight, 'Omar'), role: 'viewer' });
    await checkUsage(eight, found, { purchased: firstSeats, used: 2, pending: 4 });
    const twice = api.members.invite({ email: emailOf(eight, 'Jana').toUpperCase() });
    found.same(await comesTo(twice), '409 already_exists', 'inviting somebody twice');

    const invited = ['Jana', 'Kofi', 'Lea', 'Milo', 'Omar'] as const;
    const secrets = await Promise.all(invited.map((name) => comeIn(eight, name)));
    for (const _ of invited) tell(eight, 'invitation_accepted', 'Ivo');
    await checkUsage(eight, found, { purchased: firstSeats, used: 6, pending: 0 });
    await onlyOnce(eight, found, secrets);
    await asPromised(eight, found);
    found.detail = `${eight.accepted} accepted by the link in their e-mail`;
    eight.checks.push(found);
    return `an admin, four members and a viewer, in ${firstSeats} seats`;
  },
};

async function onlyOnce(eight: Eight, found: Check, secrets: readonly string[]): Promise<void> {
  for (const secret of secrets) {
    const { is } = await accept(eight, secret, 'Somebody');
    found.same(is, '409 already_resolved', 'a link that was followed before');
  }
  const { is } = await accept(eight, `inv_${'0'.repeat(32)}`, 'Somebody');
  found.same(is, '404 not_found', 'a link that was never sent');
  found.same(await secretFor(eight, 'Jana'), secrets[0], 'the secret of a second look at the e-mail');
}

async function asPromised(eight: Eight, found: Check): Promise<void> {
  const { api } = person(eight, 'Hanna');
  const { items: members } = await api.members.list({ limit: 50 });
  const wanted = [...eight.there.keys()].toSorted().map((name) => [name, roles[name]]);
  found.same(
    members.map(({ name, role }) => [name, role]),
    wanted,
    'the members with their roles',
  );
  const { items: riders } = await api.teams.members.list({ teamId: eight.ids.get('team') ?? '' });
  found.same(riders.map(({ name }) => name).toSorted(), ['Jana', 'Kofi'], 'the team that two came into');
  const { items: open } = await api.invitations.list({ state: 'pending' });
  found.same(open.length, 0, 'the number of invitations that wait');
}
