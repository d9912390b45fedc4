/** Tokens and the agents that use them. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { type AccessToken, type Agent, type GrantableScope, type Member } from '@muster/contract';
import { useClient, useConsole, useIdentity } from '../data/context.ts';
import { projectsQuery } from '../data/queries.ts';
import { Avatar } from '../components/people.tsx';
import { t, timeAgo, timeUntil } from '../messages/index.ts';
import { texts } from '../messages/settings.ts';
import { ConfirmButton } from '../components/ask.tsx';
import {
  SelectField,
  joinFacts,
  Form,
  ListItem,
  FormField,
  QueryList,
  OneTimeSecrets,
  OpenFormButton,
  Section,
  useSettingsWrite,
} from './components.tsx';
import { ConnectClientInstructions } from '../start/connect-client.tsx';
import { agentsQuery, membersQuery } from '../data/people-queries.ts';
import { tokensQuery } from './queries.ts';
import { useIsAdmin, widestScope } from './rights.ts';

export interface CreatedToken {
  readonly tokenId: string;
  readonly name: string;
  readonly secret: string;
}

/** The lifetimes on offer, in days. An agent's token expires within 90 days, a member's within a year. */
const lifetimesInDays = { agent: [7, 30, 90], member: [7, 30, 90, 365] } as const;
const newAgentOption = 'new';

interface TokenFields {
  readonly name: string;
  /** The id of an agent, `newAgent`, or '' for the reader. */
  readonly ownerChoice: string;
  readonly agentName: string;
  readonly scope: GrantableScope;
  readonly projectId: string;
  readonly days: string;
}

interface TokenFieldsProps {
  readonly fields: TokenFields;
  readonly changeFields: (change: Partial<TokenFields>) => void;
}

const NameInput = ({ fields, changeFields }: TokenFieldsProps) => (
  <FormField name={texts.name}>
    <input
      className="field"
      required
      autoFocus
      maxLength={120}
      value={fields.name}
      onChange={({ target }) => changeFields({ name: target.value })}
    />
  </FormField>
);

function LifetimeSelect({ fields: { ownerChoice, days }, changeFields }: TokenFieldsProps) {
  const choices = ownerChoice === '' ? lifetimesInDays.member : lifetimesInDays.agent;
  return (
    <SelectField
      label={texts.tokens.days}
      value={days}
      optionLabels={Object.fromEntries(choices.map((count) => [String(count), texts.tokens.inDays(count)]))}
      onChange={(next) => changeFields({ days: next })}
    />
  );
}

/** The fields for the token's name and its owner. */
function OwnerInputs({ fields, changeFields }: TokenFieldsProps) {
  const { ownerChoice, agentName, days } = fields;
  const { member } = useIdentity();
  const agents = useQuery(agentsQuery(useClient()));
  const mine = agents.data?.filter(({ memberId }) => memberId === member.id) ?? [];
  return (
    <>
      <div className="form-row">
        <NameInput fields={fields} changeFields={changeFields} />
        <SelectField
          label={texts.tokens.madeFor}
          value={ownerChoice}
          optionLabels={{
            '': texts.tokens.myself,
            ...Object.fromEntries(mine.map((agent) => [agent.id, agent.name])),
            [newAgentOption]: texts.tokens.newAgent,
          }}
          onChange={(next) =>
            changeFields({ ownerChoice: next, ...(next !== '' && days === '365' && { days: '90' }) })
          }
        />
      </div>
      {ownerChoice === newAgentOption && (
        <FormField name={texts.tokens.agentName}>
          <input
            className="field"
            required
            maxLength={120}
            value={agentName}
            onChange={({ target }) => changeFields({ agentName: target.value })}
          />
        </FormField>
      )}
    </>
  );
}

/** The fields for the token's scope, project and lifetime. */
function AccessInputs({ fields, changeFields }: TokenFieldsProps) {
  const { scope, projectId } = fields;
  const isAdmin = useIsAdmin();
  const projects = useQuery(projectsQuery(useClient()));
  const { read, write, admin } = texts.tokens.scopes;
  return (
    <div className="form-row">
      <SelectField
        label={texts.tokens.scope}
        value={scope}
        optionLabels={{ read, write, ...(isAdmin && { admin }) } as Record<GrantableScope, string>}
        onChange={(next) => changeFields({ scope: next })}
      />
      <SelectField
        label={texts.tokens.in}
        value={projectId}
        optionLabels={{
          '': texts.allProjects,
          ...Object.fromEntries((projects.data ?? []).map((project) => [project.id, project.name])),
        }}
        onChange={(next) => changeFields({ projectId: next })}
      />
      <LifetimeSelect fields={fields} changeFields={changeFields} />
    </div>
  );
}

interface NewTokenFormProps {
  /** True if the token is for an identity provider, which needs no further choice. */
  readonly isForProvisioning?: boolean;
  readonly onCreated: (made: CreatedToken) => void;
  readonly onClose: () => void;
}

export function NewTokenForm({ isForProvisioning = false, onCreated, onClose }: NewTokenFormProps) {
  const client = useClient();
  const [typed, setTyped] = useState<TokenFields>({
    ...{ name: '', ownerChoice: '', agentName: '', projectId: '' },
    ...(isForProvisioning ? { scope: 'scim', days: '365' } : { scope: 'write', days: '90' }),
  });
  const set = (change: Partial<TokenFields>): void => setTyped((last) => ({ ...last, ...change }));
  const { isBusy, run } = useSettingsWrite();
  const make = async (): Promise<boolean> => {
    const { name, ownerChoice, agentName, scope, projectId, days } = typed;
    return run(async () => {
      let agentId = ownerChoice;
      if (ownerChoice === newAgentOption) {
        const { agent } = await client.agents.create({ name: agentName });
        agentId = agent.id;
        // The agent now exists. If creating the token fails, the next attempt uses this agent and creates no
        // second one.
        set({ ownerChoice: agent.id });
      }
      const { token, secret } = await client.tokens.create({
        ...{ name, scopes: [scope], expiresInDays: Number(days) },
        ...(agentId !== '' && { agentId }),
        ...(projectId !== '' && { projectIds: [projectId] }),
      });
      onCreated({ tokenId: token.id, name: token.name, secret });
    });
  };
  return (
    <Form submitLabel={texts.tokens.make} isBusy={isBusy} onSubmit={make} onCancel={onClose}>
      {isForProvisioning ? (
        <div className="form-row">
          <NameInput fields={typed} changeFields={set} />
          <LifetimeSelect fields={typed} changeFields={set} />
        </div>
      ) : (
        <>
          <OwnerInputs fields={typed} changeFields={set} />
          <AccessInputs fields={typed} changeFields={set} />
        </>
      )}
    </Form>
  );
}

/** The owners of the listed tokens, as far as they are known. */
export interface TokenOwners {
  readonly agents: readonly Agent[];
  readonly members: readonly Member[];
  /** True if the list contains tokens of other members. */
  readonly includesOtherMembers: boolean;
}

function ownerText(
  { agentId, memberId }: AccessToken,
  { agents, members, includesOtherMembers }: TokenOwners,
  viewerId: string,
): string {
  const agent = agents.find(({ id }) => id === agentId);
  const member = members.find(({ id }) => id === memberId);
  const isMine = memberId === viewerId || member === undefined;
  if (agent !== undefined)
    return isMine ? texts.tokens.of(agent.name) : texts.tokens.agentOf(agent.name, member.name);
  if (agentId !== null) return texts.tokens.ofRetired;
  return isMine ? (includesOtherMembers ? texts.tokens.mine : '') : texts.tokens.ofMember(member.name);
}

export function TokenRow({ token, owners }: { readonly token: AccessToken; readonly owners: TokenOwners }) {
  const { tokens } = useClient();
  const { member: me } = useIdentity();
  const { run } = useSettingsWrite();
  const { id: tokenId, name, expiresAt, lastUsedAt, lastFour, prefix } = token;
  return (
    <ListItem
      title={
        <>
          {name} <code className="muted">{`${prefix ?? ''}…${lastFour}`}</code>
        </>
      }
      details={joinFacts(
        ownerText(token, owners, me.id),
        texts.tokens.scopes[widestScope(token.scopes)],
        lastUsedAt === null ? texts.tokens.unused : texts.tokens.used(timeAgo(lastUsedAt)),
        expiresAt === null ? texts.tokens.endless : texts.tokens.ends(timeUntil(expiresAt)),
      )}
    >
      <ConfirmButton
        actionLabel={texts.tokens.revoke}
        subject={name}
        title={texts.tokens.revokeTitle(name)}
        explanation={texts.tokens.revokeWhy}
        onConfirm={() => run(() => tokens.revoke({ tokenId }))}
      />
    </ListItem>
  );
}

function AgentRow({ agent, of: ownerName }: { readonly agent: Agent; readonly of: string | undefined }) {
  const { agents } = useClient();
  const { run } = useSettingsWrite();
  return (
    <ListItem
      leadingElement={<Avatar name={agent.name} kind="agent" />}
      title={agent.name}
      details={joinFacts(
        agent.slug,
        ownerName !== undefined && texts.tokens.ofMember(ownerName),
        texts.tokens.since(timeAgo(agent.createdAt)),
      )}
    >
      <ConfirmButton
        actionLabel={texts.tokens.retire}
        subject={agent.name}
        title={texts.tokens.retireTitle(agent.name)}
        explanation={texts.tokens.retireWhy}
        onConfirm={() => run(() => agents.retire({ agentId: agent.id }))}
      />
    </ListItem>
  );
}

export function Tokens() {
  const client = useClient();
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<CreatedToken | null>(null);
  const tokens = useQuery(tokensQuery(client));
  const agents = useQuery(agentsQuery(client));
  // Sessions are tokens, too, but they are ended in the list of browsers.
  const listed = tokens.data?.filter(({ kind }) => kind === 'api');
  const { member: me } = useIdentity();
  // Without a sign-in, MCP clients need a token.
  const hasSignIn = useConsole().session.signedIn !== null;
  const intro = hasSignIn
    ? `${texts.tokens.intro} ${texts.tokens.mcpSignIn(`${location.origin}/api/mcp`)}`
    : texts.tokens.intro;
  const members = useQuery(membersQuery(client)).data ?? [];
  const owners: TokenOwners = {
    ...{ members, agents: agents.data ?? [] },
    includesOtherMembers: listed?.some(({ memberId }) => memberId !== me.id) === true,
  };
  const other = ({ memberId }: Agent): string | undefined =>
    memberId === me.id ? undefined : members.find(({ id }) => id === memberId)?.name;
  return (
    <>
      <Section
        id="tokens"
        title={texts.sections.tokens}
        intro={intro}
        headerAction={!isMaking && <OpenFormButton name={texts.tokens.make} onOpen={() => setMaking(true)} />}
      >
        {isMaking && (
          <NewTokenForm
            onClose={() => setMaking(false)}
            onCreated={(one) => {
              setMade(one);
              setMaking(false);
            }}
          />
        )}
        {made !== null && (
          <>
            <OneTimeSecrets
              title={texts.tokens.made}
              values={[[made.name, made.secret]]}
              onClose={() => setMade(null)}
            />
            <ConnectClientInstructions
              tokenId={made.tokenId}
              access={{ origin: location.origin, secret: made.secret, projectKey: undefined }}
            />
          </>
        )}
        <QueryList
          query={{ ...tokens, data: listed }}
          emptyTitle={texts.tokens.empty}
          emptyWhy={texts.tokens.emptyWhy}
        >
          {(token) => <TokenRow key={token.id} token={token} owners={owners} />}
        </QueryList>
      </Section>
      <Section
        id="agents"
        title={texts.tokens.agents}
        intro={texts.tokens.agentsIntro}
        headerAction={
          <Link to="/connect-agent" className="button">
            {t.nav.connectAgent}
          </Link>
        }
      >
        <QueryList query={agents} emptyTitle={texts.tokens.noAgents} emptyWhy={texts.tokens.noAgentsWhy}>
          {(agent) => <AgentRow key={agent.id} agent={agent} of={other(agent)} />}
        </QueryList>
      </Section>
    </>
  );
}
