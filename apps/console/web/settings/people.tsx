/** The members and teams with a role in a project, and requests for access. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type AccessRequest, type Participant } from '@muster/contract';
import { useClient } from '../data/context.ts';
import { Avatar } from '../components/people.tsx';
import { texts } from '../messages/settings.ts';
import {
  SelectField,
  joinFacts,
  Form,
  ListItem,
  QueryList,
  Section,
  useSettingsWrite,
} from './components.tsx';
import { membersQuery } from '../data/people-queries.ts';
import { accessRequestsQuery, participantsQuery, projectTeamsQuery, teamsQuery } from './queries.ts';

type ProjectRole = Participant['role'];
interface ProjectIdProps {
  readonly projectId: string;
}

function AddRoleForm({ projectId }: ProjectIdProps) {
  const client = useClient();
  const members = useQuery(membersQuery(client));
  const teams = useQuery(teamsQuery(client));
  const [who, setWho] = useState('');
  const [role, setRole] = useState<ProjectRole>('contributor');
  const { isBusy, run } = useSettingsWrite();
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
    <Form submitLabel={texts.people.add} isBusy={isBusy || who === ''} onSubmit={give}>
      <div className="form-row">
        <SelectField
          label={texts.people.memberOrTeam}
          value={who}
          optionLabels={{
            '': texts.people.choose,
            ...Object.fromEntries((members.data ?? []).map(({ id, name }) => [`member:${id}`, name])),
            ...Object.fromEntries(
              (teams.data ?? []).map(({ id, name }) => [`team:${id}`, `${texts.people.team}: ${name}`]),
            ),
          }}
          onChange={setWho}
        />
        <SelectField label={texts.role} value={role} optionLabels={texts.projectRoles} onChange={setRole} />
      </div>
    </Form>
  );
}

function AccessRequestRow({ request }: { readonly request: AccessRequest }) {
  const { accessRequests } = useClient().projects;
  const { isBusy, run } = useSettingsWrite();
  const { id: accessRequestId, member, role, message } = request;
  const decide = (decision: 'approve' | 'deny') => () =>
    void run(() => accessRequests.resolve({ accessRequestId, decision }));
  return (
    <ListItem
      leadingElement={<Avatar name={member.name} kind="member" />}
      title={member.name}
      details={joinFacts(texts.people.asks(texts.projectRoles[role]), message)}
    >
      <button type="button" className="button" disabled={isBusy} onClick={decide('deny')}>
        {texts.people.deny}
        <span className="sr-only"> {member.name}</span>
      </button>
      <button type="button" className="button" data-kind="main" disabled={isBusy} onClick={decide('approve')}>
        {texts.people.approve}
        <span className="sr-only"> {member.name}</span>
      </button>
    </ListItem>
  );
}

export function ProjectPeople({ projectId, mayLead }: ProjectIdProps & { readonly mayLead: boolean }) {
  const client = useClient();
  const { run } = useSettingsWrite();
  const people = useQuery(participantsQuery(client, projectId));
  const teams = useQuery(projectTeamsQuery(client, projectId));
  const requests = useQuery({ ...accessRequestsQuery(client, projectId), enabled: mayLead });
  return (
    <>
      {(requests.data?.length ?? 0) > 0 && (
        <Section id="requests" title={texts.people.requests}>
          <QueryList query={requests} emptyTitle="">
            {(request) => <AccessRequestRow key={request.id} request={request} />}
          </QueryList>
        </Section>
      )}
      <Section id="people" title={texts.sections.people} intro={texts.people.intro}>
        {mayLead && <AddRoleForm projectId={projectId} />}
        <QueryList query={people} emptyTitle="">
          {({ memberId, name, role, via }) => (
            <ListItem
              key={memberId}
              leadingElement={<Avatar name={name} kind="member" />}
              title={name}
              details={joinFacts(texts.projectRoles[role], texts.people.via[via])}
            >
              {mayLead && via === 'direct' && (
                <button
                  type="button"
                  className="button"
                  data-kind="quiet"
                  onClick={() => void run(() => client.projects.members.remove({ projectId, memberId }))}
                >
                  {texts.remove}
                  <span className="sr-only"> {name}</span>
                </button>
              )}
            </ListItem>
          )}
        </QueryList>
      </Section>
      <Section id="teams" title={texts.people.teams}>
        <QueryList query={teams} emptyTitle={texts.people.noTeams} emptyWhy={texts.people.noTeamsWhy}>
          {({ team, role }) => (
            <ListItem key={team.id} title={team.name} details={texts.projectRoles[role]}>
              {mayLead && (
                <button
                  type="button"
                  className="button"
                  data-kind="quiet"
                  onClick={() => void run(() => client.projects.unassignTeam({ projectId, teamId: team.id }))}
                >
                  {texts.remove}
                  <span className="sr-only"> {team.name}</span>
                </button>
              )}
            </ListItem>
          )}
        </QueryList>
      </Section>
    </>
  );
}
