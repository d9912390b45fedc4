import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Team, type TeamMember } from '@muster/registry';
import { useClient, useIdentity } from '../data/context.ts';
import { Avatar } from '../components/people.tsx';
import { Failed, Loading } from '../components/states.tsx';
import { s } from '../messages/settings.ts';
import { Ask } from '../components/ask.tsx';
import { Choice, Form, Item, Label, Listed, Opener, Section, useWrite } from './components.tsx';
import { membersQuery } from '../data/people-queries.ts';
import { teamMembersQuery, teamsQuery } from './queries.ts';
import { useIsAdmin } from './rights.ts';

function Make({ onClose }: { readonly onClose: () => void }) {
  const { teams } = useClient();
  const { isBusy, run } = useWrite();
  const [name, setName] = useState('');
  const make = async (): Promise<boolean> => {
    const isDone = await run(() => teams.create({ name }));
    if (isDone) onClose();
    return isDone;
  };
  return (
    <Form act={s.teams.make} isBusy={isBusy} onSubmit={make} onCancel={onClose}>
      <Label name={s.name}>
        <input
          className="field"
          required
          autoFocus
          maxLength={120}
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
      </Label>
    </Form>
  );
}

function InTeam({ one, mayChange }: { readonly one: TeamMember; readonly mayChange: boolean }) {
  const { members } = useClient().teams;
  const { isBusy, run } = useWrite();
  const { teamId, memberId, name, role } = one;
  return (
    <Item lead={<Avatar name={name} kind="member" />} title={name}>
      {mayChange ? (
        <>
          <Choice
            label={s.members.roleOf(name)}
            isHidden
            value={role}
            words={s.teamRoles}
            onChange={(next) => void run(() => members.setRole({ teamId, memberId, role: next }))}
          />
          <button
            type="button"
            className="button"
            data-kind="quiet"
            disabled={isBusy}
            onClick={() => void run(() => members.remove({ teamId, memberId }))}
          >
            {s.remove}
            <span className="sr-only"> {name}</span>
          </button>
        </>
      ) : (
        <span className="muted">{s.teamRoles[role]}</span>
      )}
    </Item>
  );
}

function People({ team, mayChange }: { readonly team: Team; readonly mayChange: boolean }) {
  const client = useClient();
  const people = useQuery(teamMembersQuery(client, team.id));
  const all = useQuery({ ...membersQuery(client), enabled: mayChange });
  const { run } = useWrite();
  if (people.error !== null) return <Failed error={people.error} again={() => void people.refetch()} />;
  if (people.data === undefined) return <Loading label={s.loading} rows={2} />;
  const inIt = new Set(people.data.map(({ memberId }) => memberId));
  const others = (all.data ?? []).filter(({ id }) => !inIt.has(id));
  return (
    <div className="set-inner">
      <ul className="rows" aria-label={s.teams.people(team.name)}>
        {people.data.map((one) => (
          <InTeam key={one.memberId} one={one} mayChange={mayChange} />
        ))}
      </ul>
      {people.data.length === 0 && <p className="muted">{s.teams.none}</p>}
      {mayChange && others.length > 0 && (
        <Choice<string>
          label={s.teams.addMember}
          isHidden
          value=""
          words={{
            '': `${s.teams.addMember}…`,
            ...Object.fromEntries(others.map(({ id, name }) => [id, name])),
          }}
          onChange={(memberId) => {
            if (memberId !== '') void run(() => client.teams.members.add({ teamId: team.id, memberId }));
          }}
        />
      )}
    </div>
  );
}

function One({ team }: { readonly team: Team }) {
  const { teams } = useClient();
  const identity = useIdentity();
  const isAdmin = useIsAdmin();
  const { run } = useWrite();
  const [isOpen, setOpen] = useState(false);
  const leads = identity.teams.some(({ id, role }) => id === team.id && role === 'lead');
  return (
    <>
      <Item title={team.name} fact={team.description ?? undefined}>
        <button
          type="button"
          className="button"
          data-kind="quiet"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {s.teams.open}
          <span className="sr-only"> {team.name}</span>
        </button>
        {isAdmin && (
          <Ask
            act={s.teams.delete}
            about={team.name}
            title={s.teams.deleteTitle(team.name)}
            why={s.teams.deleteWhy}
            run={() => run(() => teams.delete({ teamId: team.id }))}
          />
        )}
      </Item>
      {isOpen && (
        <li>
          <People team={team} mayChange={isAdmin || leads} />
        </li>
      )}
    </>
  );
}

export function Teams() {
  const isAdmin = useIsAdmin();
  const [isMaking, setMaking] = useState(false);
  const teams = useQuery(teamsQuery(useClient()));
  return (
    <Section
      id="teams"
      title={s.sections.teams}
      intro={s.teams.intro}
      act={isAdmin && !isMaking && <Opener name={s.teams.make} onOpen={() => setMaking(true)} />}
    >
      {isMaking && <Make onClose={() => setMaking(false)} />}
      <Listed query={teams} empty={s.teams.empty} emptyWhy={s.teams.emptyWhy}>
        {(team) => <One key={team.id} team={team} />}
      </Listed>
    </Section>
  );
}
