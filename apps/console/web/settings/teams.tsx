import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Team, type TeamMember } from '@muster/contract';
import { useClient, useIdentity } from '../data/context.ts';
import { Avatar } from '../components/people.tsx';
import { LoadError, Loading } from '../components/states.tsx';
import { texts } from '../messages/settings.ts';
import { ConfirmButton } from '../components/ask.tsx';
import {
  SelectField,
  Form,
  ListItem,
  FormField,
  QueryList,
  OpenFormButton,
  Section,
  useSettingsWrite,
} from './components.tsx';
import { membersQuery } from '../data/people-queries.ts';
import { teamMembersQuery, teamsQuery } from './queries.ts';
import { useIsAdmin } from './rights.ts';

function NewTeamForm({ onClose }: { readonly onClose: () => void }) {
  const { teams } = useClient();
  const { isBusy, run } = useSettingsWrite();
  const [name, setName] = useState('');
  const make = async (): Promise<boolean> => {
    const isDone = await run(() => teams.create({ name }));
    if (isDone) onClose();
    return isDone;
  };
  return (
    <Form submitLabel={texts.teams.make} isBusy={isBusy} onSubmit={make} onCancel={onClose}>
      <FormField name={texts.name}>
        <input
          className="field"
          required
          autoFocus
          maxLength={120}
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
      </FormField>
    </Form>
  );
}

interface TeamMemberRowProps {
  readonly one: TeamMember;
  readonly mayChange: boolean;
}

function TeamMemberRow({ one: teamMember, mayChange }: TeamMemberRowProps) {
  const { members } = useClient().teams;
  const { isBusy, run } = useSettingsWrite();
  const { teamId, memberId, name, role } = teamMember;
  return (
    <ListItem leadingElement={<Avatar name={name} kind="member" />} title={name}>
      {mayChange ? (
        <>
          <SelectField
            label={texts.members.roleOf(name)}
            isHidden
            value={role}
            optionLabels={texts.teamRoles}
            onChange={(next) => void run(() => members.setRole({ teamId, memberId, role: next }))}
          />
          <button
            type="button"
            className="button"
            data-kind="quiet"
            disabled={isBusy}
            onClick={() => void run(() => members.remove({ teamId, memberId }))}
          >
            {texts.remove}
            <span className="sr-only"> {name}</span>
          </button>
        </>
      ) : (
        <span className="muted">{texts.teamRoles[role]}</span>
      )}
    </ListItem>
  );
}

function TeamMembers({ team, mayChange }: { readonly team: Team; readonly mayChange: boolean }) {
  const client = useClient();
  const people = useQuery(teamMembersQuery(client, team.id));
  const all = useQuery({ ...membersQuery(client), enabled: mayChange });
  const { run } = useSettingsWrite();
  if (people.error !== null) return <LoadError error={people.error} onRetry={() => void people.refetch()} />;
  if (people.data === undefined) return <Loading label={texts.loading} rows={2} />;
  const inIt = new Set(people.data.map(({ memberId }) => memberId));
  const others = (all.data ?? []).filter(({ id }) => !inIt.has(id));
  return (
    <div className="set-inner">
      <ul className="rows" aria-label={texts.teams.people(team.name)}>
        {people.data.map((one) => (
          <TeamMemberRow key={one.memberId} one={one} mayChange={mayChange} />
        ))}
      </ul>
      {people.data.length === 0 && <p className="muted">{texts.teams.none}</p>}
      {mayChange && others.length > 0 && (
        <SelectField<string>
          label={texts.teams.addMember}
          isHidden
          value=""
          optionLabels={{
            '': `${texts.teams.addMember}…`,
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

function TeamRow({ team }: { readonly team: Team }) {
  const { teams } = useClient();
  const identity = useIdentity();
  const isAdmin = useIsAdmin();
  const { run } = useSettingsWrite();
  const [isOpen, setOpen] = useState(false);
  const leads = identity.teams.some(({ id, role }) => id === team.id && role === 'lead');
  return (
    <>
      <ListItem title={team.name} details={team.description ?? undefined}>
        <button
          type="button"
          className="button"
          data-kind="quiet"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {texts.teams.open}
          <span className="sr-only"> {team.name}</span>
        </button>
        {isAdmin && (
          <ConfirmButton
            actionLabel={texts.teams.delete}
            subject={team.name}
            title={texts.teams.deleteTitle(team.name)}
            explanation={texts.teams.deleteWhy}
            onConfirm={() => run(() => teams.delete({ teamId: team.id }))}
          />
        )}
      </ListItem>
      {isOpen && (
        <li>
          <TeamMembers team={team} mayChange={isAdmin || leads} />
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
      title={texts.sections.teams}
      intro={texts.teams.intro}
      headerAction={
        isAdmin && !isMaking && <OpenFormButton name={texts.teams.make} onOpen={() => setMaking(true)} />
      }
    >
      {isMaking && <NewTeamForm onClose={() => setMaking(false)} />}
      <QueryList query={teams} emptyTitle={texts.teams.empty} emptyWhy={texts.teams.emptyWhy}>
        {(team) => <TeamRow key={team.id} team={team} />}
      </QueryList>
    </Section>
  );
}
