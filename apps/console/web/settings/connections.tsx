/** Programs that were authorized by signing in, with an action to revoke each. */
import { useQuery } from '@tanstack/react-query';
import { type Connection, type Member } from '@muster/registry';
import { useClient, useIdentity } from '../data/context.ts';
import { projectsQuery } from '../data/queries.ts';
import { Avatar } from '../components/people.tsx';
import { timeAgo, timeUntil } from '../messages/index.ts';
import { texts } from '../messages/settings.ts';
import { ConfirmButton } from '../components/ask.tsx';
import { joinFacts, ListItem, QueryList, Section, useSettingsWrite } from './components.tsx';
import { membersQuery } from '../data/people-queries.ts';
import { connectionsQuery } from './queries.ts';
import { widestOf } from './rights.ts';

function ConnectionRow({
  connection,
  whose,
  projects,
}: {
  readonly connection: Connection;
  readonly whose: Member | undefined;
  readonly projects: readonly string[];
}) {
  const { connections } = useClient();
  const { member } = useIdentity();
  const { run } = useSettingsWrite();
  const { id: connectionId, client, agent, scopes, projectIds, lastUsedAt, expiresAt } = connection;
  return (
    <ListItem
      lead={<Avatar name={agent.name} kind="agent" />}
      title={
        <>
          {client.name} <span className="muted">{client.host ?? texts.connections.unvouched}</span>
        </>
      }
      fact={joinFacts(
        whose !== undefined && whose.id !== member.id
          ? texts.tokens.agentOf(agent.name, whose.name)
          : texts.connections.as(agent.name),
        texts.tokens.scopes[widestOf(scopes)],
        projectIds === null ? texts.allProjects : projects.join(', '),
        lastUsedAt === null ? texts.tokens.unused : texts.tokens.used(timeAgo(lastUsedAt)),
        texts.tokens.ends(timeUntil(expiresAt)),
      )}
    >
      <ConfirmButton
        act={texts.connections.revoke}
        about={client.name}
        title={texts.connections.revokeTitle(client.name)}
        why={texts.connections.revokeWhy}
        run={() => run(() => connections.revoke({ connectionId }))}
      />
    </ListItem>
  );
}

export function Connections() {
  const client = useClient();
  const connections = useQuery(connectionsQuery(client));
  const members = useQuery(membersQuery(client));
  const projects = useQuery(projectsQuery(client)).data ?? [];
  return (
    <Section id="connections" title={texts.sections.connections} intro={texts.connections.intro}>
      <QueryList query={connections} empty={texts.connections.empty} emptyWhy={texts.connections.emptyWhy}>
        {(connection) => (
          <ConnectionRow
            key={connection.id}
            connection={connection}
            whose={members.data?.find(({ id }) => id === connection.memberId)}
            projects={projects
              .filter(({ id }) => connection.projectIds?.includes(id) === true)
              .map(({ name }) => name)}
          />
        )}
      </QueryList>
    </Section>
  );
}
