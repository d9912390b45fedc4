/** Tokens and the agents that use them. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type AccessToken, type Agent, type GivenScope, type Member } from '@muster/registry';
import { useClient, useIdentity } from '../data/context.ts';
import { projectsQuery } from '../data/queries.ts';
import { Avatar } from '../components/people.tsx';
import { ago, ending } from '../messages/index.ts';
import { s } from '../messages/settings.ts';
import { Ask } from '../components/ask.tsx';
import { Choice, facts, Form, Item, Label, Listed, Once, Opener, Section, useWrite } from './components.tsx';
import { Connect } from './connect.tsx';
import { agentsQuery, membersQuery } from '../data/people-queries.ts';
import { tokensQuery } from './queries.ts';
import { useIsAdmin, widestOf } from './rights.ts';

interface Made {
  readonly tokenId: string;
  readonly name: string;
  readonly secret: string;
}

/** The lifetimes on offer, in days. An agent's token expires within 90 days, a member's within a year. */
const spans = { agent: [7, 30, 90], member: [7, 30, 90, 365] } as const;
const newAgent = 'new';

interface Typed {
  readonly name: string;
  /** The id of an agent, `newAgent`, or '' for the reader. */
  readonly madeFor: string;
  readonly agentName: string;
  readonly scope: GivenScope;
  readonly projectId: string;
  readonly days: string;
}

interface Typing {
  readonly typed: Typed;
  readonly set: (change: Partial<Typed>) => void;
}

/** The fields for the token's name and its owner. */
function Whom({ typed: { name, madeFor, agentName, days }, set }: Typing) {
  const { member } = useIdentity();
  const agents = useQuery(agentsQuery(useClient()));
  const mine = agents.data?.filter(({ memberId }) => memberId === member.id) ?? [];
  return (
    <>
      <div className="form-row">
        <Label name={s.name}>
          <input
            className="field"
            required
            autoFocus
            maxLength={120}
            value={name}
            onChange={({ target }) => set({ name: target.value })}
          />
        </Label>
        <Choice
          label={s.tokens.madeFor}
          value={madeFor}
          words={{
            '': s.tokens.myself,
            ...Object.fromEntries(mine.map((agent) => [agent.id, agent.name])),
            [newAgent]: s.tokens.newAgent,
          }}
          onChange={(next) => set({ madeFor: next, ...(next !== '' && days === '365' && { days: '90' }) })}
        />
      </div>
      {madeFor === newAgent && (
        <Label name={s.tokens.agentName}>
          <input
            className="field"
            required
            maxLength={120}
            value={agentName}
            onChange={({ target }) => set({ agentName: target.value })}
          />
        </Label>
      )}
    </>
  );
}

/** The fields for the token's scope, project and lifetime. */
function Reach({ typed: { madeFor, scope, projectId, days }, set }: Typing) {
  const isAdmin = useIsAdmin();
  const projects = useQuery(projectsQuery(useClient()));
  const { admin, ...usual } = s.tokens.scopes;
  const choices = madeFor === '' ? spans.member : spans.agent;
  return (
    <div className="form-row">
      <Choice
        label={s.tokens.scope}
        value={scope}
        words={(isAdmin ? { ...usual, admin } : usual) as Record<GivenScope, string>}
        onChange={(next) => set({ scope: next })}
      />
      <Choice
        label={s.tokens.in}
        value={projectId}
        words={{
          '': s.allProjects,
          ...Object.fromEntries((projects.data ?? []).map((project) => [project.id, project.name])),
        }}
        onChange={(next) => set({ projectId: next })}
      />
      <Choice
        label={s.tokens.days}
        value={days}
        words={Object.fromEntries(choices.map((count) => [String(count), s.tokens.inDays(count)]))}
        onChange={(next) => set({ days: next })}
      />
    </div>
  );
}

function Make({ onMade, onClose }: { readonly onMade: (made: Made) => void; readonly onClose: () => void }) {
  const client = useClient();
  const [typed, setTyped] = useState<Typed>({
    ...{ name: '', madeFor: '', agentName: '', scope: 'write', projectId: '', days: '90' },
  });
  const set = (change: Partial<Typed>): void => setTyped((last) => ({ ...last, ...change }));
  const { isBusy, run } = useWrite();
  const make = async (): Promise<boolean> => {
    const { name, madeFor, agentName, scope, projectId, days } = typed;
    return run(async () => {
      let agentId = madeFor;
      if (madeFor === newAgent) {
        const { agent } = await client.agents.create({ name: agentName });
        agentId = agent.id;
        // If creating the token fails, the agent already exists.
        set({ madeFor: agent.id });
      }
      const { token, secret } = await client.tokens.create({
        ...{ name, scopes: [scope], expiresInDays: Number(days) },
        ...(agentId !== '' && { agentId }),
        ...(projectId !== '' && { projectIds: [projectId] }),
      });
      onMade({ tokenId: token.id, name: token.name, secret });
    });
  };
  return (
    <Form act={s.tokens.make} isBusy={isBusy} onSubmit={make} onCancel={onClose}>
      <Whom typed={typed} set={set} />
      <Reach typed={typed} set={set} />
    </Form>
  );
}

/** The owners of the listed tokens, as far as they are known. */
interface Owners {
  readonly agents: readonly Agent[];
  readonly members: readonly Member[];
  /** True if the list contains tokens of other members. */
  readonly isOfAll: boolean;
}

function whose({ agentId, memberId }: AccessToken, { agents, members, isOfAll }: Owners, me: string): string {
  const agent = agents.find(({ id }) => id === agentId);
  const member = members.find(({ id }) => id === memberId);
  const isMine = memberId === me || member === undefined;
  if (agent !== undefined)
    return isMine ? s.tokens.of(agent.name) : s.tokens.agentOf(agent.name, member.name);
  if (agentId !== null) return s.tokens.ofRetired;
  return isMine ? (isOfAll ? s.tokens.mine : '') : s.tokens.ofMember(member.name);
}

function One({ token, owners }: { readonly token: AccessToken; readonly owners: Owners }) {
  const { tokens } = useClient();
  const { member: me } = useIdentity();
  const { run } = useWrite();
  const { id: tokenId, name, expiresAt, lastUsedAt, lastFour, prefix } = token;
  return (
    <Item
      title={
        <>
          {name} <code className="muted">{`${prefix ?? ''}…${lastFour}`}</code>
        </>
      }
      fact={facts(
        whose(token, owners, me.id),
        s.tokens.scopes[widestOf(token.scopes)],
        lastUsedAt === null ? s.tokens.unused : s.tokens.used(ago(lastUsedAt)),
        expiresAt === null ? s.tokens.endless : s.tokens.ends(ending(expiresAt)),
      )}
    >
      <Ask
        act={s.tokens.revoke}
        about={name}
        title={s.tokens.revokeTitle(name)}
        why={s.tokens.revokeWhy}
        run={() => run(() => tokens.revoke({ tokenId }))}
      />
    </Item>
  );
}

function OneAgent({ agent, of }: { readonly agent: Agent; readonly of: string | undefined }) {
  const { agents } = useClient();
  const { run } = useWrite();
  return (
    <Item
      lead={<Avatar name={agent.name} kind="agent" />}
      title={agent.name}
      fact={facts(
        agent.slug,
        of !== undefined && s.tokens.ofMember(of),
        s.tokens.since(ago(agent.createdAt)),
      )}
    >
      <Ask
        act={s.tokens.retire}
        about={agent.name}
        title={s.tokens.retireTitle(agent.name)}
        why={s.tokens.retireWhy}
        run={() => run(() => agents.retire({ agentId: agent.id }))}
      />
    </Item>
  );
}

export function Tokens() {
  const client = useClient();
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<Made | null>(null);
  const tokens = useQuery(tokensQuery(client));
  const agents = useQuery(agentsQuery(client));
  // Sessions are tokens, too, but they are ended in the list of browsers.
  const listed = tokens.data?.filter(({ kind }) => kind === 'api');
  const { member: me } = useIdentity();
  const members = useQuery(membersQuery(client)).data ?? [];
  const owners: Owners = {
    ...{ members, agents: agents.data ?? [] },
    isOfAll: listed?.some(({ memberId }) => memberId !== me.id) === true,
  };
  const other = ({ memberId }: Agent): string | undefined =>
    memberId === me.id ? undefined : members.find(({ id }) => id === memberId)?.name;
  return (
    <>
      <Section
        id="tokens"
        title={s.sections.tokens}
        intro={s.tokens.intro}
        act={!isMaking && <Opener name={s.tokens.make} onOpen={() => setMaking(true)} />}
      >
        {isMaking && (
          <Make
            onClose={() => setMaking(false)}
            onMade={(one) => {
              setMade(one);
              setMaking(false);
            }}
          />
        )}
        {made !== null && (
          <>
            <Once title={s.tokens.made} values={[[made.name, made.secret]]} onClose={() => setMade(null)} />
            <Connect tokenId={made.tokenId} secret={made.secret} />
          </>
        )}
        <Listed query={{ ...tokens, data: listed }} empty={s.tokens.empty} emptyWhy={s.tokens.emptyWhy}>
          {(token) => <One key={token.id} token={token} owners={owners} />}
        </Listed>
      </Section>
      <Section id="agents" title={s.tokens.agents} intro={s.tokens.agentsIntro}>
        <Listed query={agents} empty={s.tokens.noAgents} emptyWhy={s.tokens.noAgentsWhy}>
          {(agent) => <OneAgent key={agent.id} agent={agent} of={other(agent)} />}
        </Listed>
      </Section>
    </>
  );
}
