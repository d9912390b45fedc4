/** Programs that were authorized by signing in, with an action to revoke each. */
import { useQuery } from '@tanstack/react-query';
import { type Connection, type Member } from '@muster/registry';
import { useClient, useIdentity } from '../data/context.ts';
import { projectsQuery } from '../data/queries.ts';
import { Avatar } from '../components/people.tsx';
import { ago, ending } from '../messages/index.ts';
import { s } from '../messages/settings.ts';
import { Ask } from '../components/ask.tsx';
import { facts, Item, Listed, Section, useWrite } from './components.tsx';
import { membersQuery } from '../data/people-queries.ts';
import { connectionsQuery } from './queries.ts';
import { widestOf } from './rights.ts';

function One({
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
  const { run } = useWrite();
  const { id: connectionId, client, agent, scopes, projectIds, lastUsedAt, expiresAt } = connection;
  return (
    <Item
      lead={<Avatar name={agent.name} kind="agent" />}
      title={
        <>
          {client.name} <span className="muted">{client.host ?? s.connections.unvouched}</span>
        </>
      }
      fact={facts(
        whose !== undefined && whose.id !== member.id
          ? s.tokens.agentOf(agent.name, whose.name)
          : s.connections.as(agent.name),
        s.tokens.scopes[widestOf(scopes)],
        projectIds === null ? s.allProjects : projects.join(', '),
        lastUsedAt === null ? s.tokens.unused : s.tokens.used(ago(lastUsedAt)),
        s.tokens.ends(ending(expiresAt)),
      )}
    >
      <Ask
        act={s.connections.revoke}
        about={client.name}
        title={s.connections.revokeTitle(client.name)}
        why={s.connections.revokeWhy}
        run={() => run(() => connections.revoke({ connectionId }))}
      />
    </Item>
  );
}

export function Connections() {
  const client = useClient();
  const connections = useQuery(connectionsQuery(client));
  const members = useQuery(membersQuery(client));
  const projects = useQuery(projectsQuery(client)).data ?? [];
  return (
    <Section id="connections" title={s.sections.connections} intro={s.connections.intro}>
      <Listed query={connections} empty={s.connections.empty} emptyWhy={s.connections.emptyWhy}>
        {(connection) => (
          <One
            key={connection.id}
            connection={connection}
            whose={members.data?.find(({ id }) => id === connection.memberId)}
            projects={projects
              .filter(({ id }) => connection.projectIds?.includes(id) === true)
              .map(({ name }) => name)}
          />
        )}
      </Listed>
    </Section>
  );
}
