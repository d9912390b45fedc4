/** The members and teams with a role in a project, and requests for access. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type AccessRequest, type Participant } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { Avatar } from '../components/people.tsx';
import { s } from '../messages/settings.ts';
import { Choice, facts, Form, Item, Listed, Section, useWrite } from './components.tsx';
import { membersQuery } from '../data/people-queries.ts';
import { accessRequestsQuery, participantsQuery, projectTeamsQuery, teamsQuery } from './queries.ts';

type Role = Participant['role'];
interface Of {
  readonly projectId: string;
}

function Give({ projectId }: Of) {
  const client = useClient();
  const members = useQuery(membersQuery(client));
  const teams = useQuery(teamsQuery(client));
  const [who, setWho] = useState('');
  const [role, setRole] = useState<Role>('contributor');
  const { isBusy, run } = useWrite();
  const give = async (): Promise<boolean> => {
    const [kind = '', id = ''] = who.split(':');
    const isDone = await run(() =>
      kind === 'team'
        ? client.projects.assignTeam({ projectId, teamId: id, role })
        : client.projects.members.add({ projectId, memberId: id, role }),
    );
    if (isDone) setWho('');
    return isDone;
  };
  return (
    <Form act={s.people.add} isBusy={isBusy || who === ''} onSubmit={give}>
      <div className="form-row">
        <Choice
          label={s.people.memberOrTeam}
          value={who}
          words={{
            '': s.people.choose,
            ...Object.fromEntries((members.data ?? []).map(({ id, name }) => [`member:${id}`, name])),
            ...Object.fromEntries(
              (teams.data ?? []).map(({ id, name }) => [`team:${id}`, `${s.people.team}: ${name}`]),
            ),
          }}
          onChange={setWho}
        />
        <Choice label={s.role} value={role} words={s.projectRoles} onChange={setRole} />
      </div>
    </Form>
  );
}

function Request({ request }: { readonly request: AccessRequest }) {
  const { accessRequests } = useClient().projects;
  const { isBusy, run } = useWrite();
  const { id: accessRequestId, member, role, message } = request;
  const decide = (decision: 'approve' | 'deny') => () =>
    void run(() => accessRequests.resolve({ accessRequestId, decision }));
  return (
    <Item
      lead={<Avatar name={member.name} kind="member" />}
      title={member.name}
      fact={facts(s.people.asks(s.projectRoles[role]), message)}
    >
      <button type="button" className="button" disabled={isBusy} onClick={decide('deny')}>
        {s.people.deny}
        <span className="sr-only"> {member.name}</span>
      </button>
      <button type="button" className="button" data-kind="main" disabled={isBusy} onClick={decide('approve')}>
        {s.people.approve}
        <span className="sr-only"> {member.name}</span>
      </button>
    </Item>
  );
}

export function ProjectPeople({ projectId, mayLead }: Of & { readonly mayLead: boolean }) {
  const client = useClient();
  const { run } = useWrite();
  const people = useQuery(participantsQuery(client, projectId));
  const teams = useQuery(projectTeamsQuery(client, projectId));
  const requests = useQuery({ ...accessRequestsQuery(client, projectId), enabled: mayLead });
  return (
    <>
      {(requests.data?.length ?? 0) > 0 && (
        <Section id="requests" title={s.people.requests}>
          <Listed query={requests} empty="">
            {(request) => <Request key={request.id} request={request} />}
          </Listed>
        </Section>
      )}
      <Section id="people" title={s.sections.people} intro={s.people.intro}>
        {mayLead && <Give projectId={projectId} />}
        <Listed query={people} empty="">
          {({ memberId, name, role, via }) => (
            <Item
              key={memberId}
              lead={<Avatar name={name} kind="member" />}
              title={name}
              fact={facts(s.projectRoles[role], s.people.via[via])}
            >
              {mayLead && via === 'direct' && (
                <button
                  type="button"
                  className="button"
                  data-kind="quiet"
                  onClick={() => void run(() => client.projects.members.remove({ projectId, memberId }))}
                >
                  {s.remove}
                  <span className="sr-only"> {name}</span>
                </button>
              )}
            </Item>
          )}
        </Listed>
      </Section>
      <Section id="teams" title={s.people.teams}>
        <Listed query={teams} empty={s.people.noTeams} emptyWhy={s.people.noTeamsWhy}>
          {({ team, role }) => (
            <Item key={team.id} title={team.name} fact={s.projectRoles[role]}>
              {mayLead && (
                <button
                  type="button"
                  className="button"
                  data-kind="quiet"
                  onClick={() => void run(() => client.projects.unassignTeam({ projectId, teamId: team.id }))}
                >
                  {s.remove}
                  <span className="sr-only"> {team.name}</span>
                </button>
              )}
            </Item>
          )}
        </Listed>
      </Section>
    </>
  );
}
