/** Programs that were authorized by signing in, with an action to revoke each. */
import { useQuery } from '@tanstack/react-query';
import { type Connection, type Member } from '@muster/contract';
import { useClient, useIdentity } from '../data/context.ts';
import { projectsQuery } from '../data/queries.ts';
import { Avatar } from '../components/people.tsx';
import { timeAgo, timeUntil } from '../messages/index.ts';
import { texts } from '../messages/settings.ts';
import { ConfirmButton } from '../components/ask.tsx';
import { joinFacts, ListItem, QueryList, Section, useSettingsWrite } from './components.tsx';
import { membersQuery } from '../data/people-queries.ts';
import { connectionsQuery } from './queries.ts';
import { widestScope } from './rights.ts';

interface ConnectionRowProps {
  readonly connection: Connection;
  readonly owner: Member | undefined;
  readonly projectNames: readonly string[];
}

function ConnectionRow({ connection, owner, projectNames }: ConnectionRowProps) {
  const { connections } = useClient();
  const { member } = useIdentity();
  const { run } = useSettingsWrite();
  const { id: connectionId, client, agent, scopes, projectIds, lastUsedAt, expiresAt } = connection;
  return (
    <ListItem
      leadingElement={<Avatar name={agent.name} kind="agent" />}
      title={
        <>
          {client.name} <span className="muted">{client.host ?? texts.connections.unvouched}</span>
        </>
      }
      details={joinFacts(
        owner !== undefined && owner.id !== member.id
          ? texts.tokens.agentOf(agent.name, owner.name)
          : texts.connections.as(agent.name),
        texts.tokens.scopes[widestScope(scopes)],
        projectIds === null ? texts.allProjects : projectNames.join(', '),
        lastUsedAt === null ? texts.tokens.unused : texts.tokens.used(timeAgo(lastUsedAt)),
        texts.tokens.ends(timeUntil(expiresAt)),
      )}
    >
      <ConfirmButton
        actionLabel={texts.connections.revoke}
        subject={client.name}
        title={texts.connections.revokeTitle(client.name)}
        explanation={texts.connections.revokeWhy}
        onConfirm={() => run(() => connections.revoke({ connectionId }))}
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
      <QueryList
        query={connections}
        emptyTitle={texts.connections.empty}
        emptyWhy={texts.connections.emptyWhy}
      >
        {(connection) => (
          <ConnectionRow
            key={connection.id}
            connection={connection}
            owner={members.data?.find(({ id }) => id === connection.memberId)}
            projectNames={projects
              .filter(({ id }) => connection.projectIds?.includes(id) === true)
              .map(({ name }) => name)}
          />
        )}
      </QueryList>
    </Section>
  );
}
