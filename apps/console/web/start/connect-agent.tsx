/** Creates an agent with a token, and shows how its client connects. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useClient, useConsole, useIdentity } from '../data/context.ts';
import { agentsQuery } from '../data/people-queries.ts';
import { projectsQuery } from '../data/queries.ts';
import { connectTexts } from '../messages/connect.ts';
import { texts } from '../messages/settings.ts';
import { Form, FormField, SelectField, useSettingsWrite } from '../settings/components.tsx';
import { type ClientName } from './client-setup.ts';
import { ClientInstructions, ClientTabs } from './connect-client.tsx';

const expiresInDays = 90;

interface ConnectedAgent {
  readonly name: string;
  readonly tokenId: string;
  readonly secret: string;
  readonly projectKey: string | undefined;
}

interface NewAgentFormProps {
  readonly client: ClientName;
  readonly onCreated: (agent: ConnectedAgent) => void;
}

function NewAgentForm({ client, onCreated }: NewAgentFormProps) {
  const api = useClient();
  const { member } = useIdentity();
  const projects = useQuery(projectsQuery(api)).data ?? [];
  const mine = (useQuery(agentsQuery(api)).data ?? []).filter(({ memberId }) => memberId === member.id);
  /** The id of an agent of the viewer; '' for a new one. */
  const [agentId, setAgentId] = useState('');
  const [typedName, setName] = useState<string | null>(null);
  const [typedKey, setProjectKey] = useState<string | null>(null);
  const name = typedName ?? connectTexts.clients[client];
  const projectKey = typedKey ?? (projects.length === 1 ? projects[0]?.key : undefined) ?? '';
  const { isBusy, run } = useSettingsWrite();
  const create = (): Promise<boolean> =>
    run(async () => {
      const agent =
        mine.find(({ id }) => id === agentId) ?? (await api.agents.create({ name: name.trim() })).agent;
      // If creating the token fails, the next attempt uses this agent.
      setAgentId(agent.id);
      const project = projects.find(({ key }) => key === projectKey);
      const { token, secret } = await api.tokens.create({
        ...{ name: agent.name, scopes: ['write'], expiresInDays, agentId: agent.id },
        ...(project !== undefined && { projectIds: [project.id] }),
      });
      onCreated({ name: agent.name, tokenId: token.id, secret, projectKey: project?.key });
    });
  return (
    <Form submitLabel={connectTexts.create} isBusy={isBusy} onSubmit={create}>
      <div className="form-row">
        {mine.length > 0 && (
          <SelectField
            label={connectTexts.agent}
            value={agentId}
            optionLabels={{
              '': connectTexts.newAgent,
              ...Object.fromEntries(mine.map((agent) => [agent.id, agent.name])),
            }}
            onChange={setAgentId}
          />
        )}
        {agentId === '' && (
          <FormField name={connectTexts.agentName}>
            <input
              className="field"
              required
              maxLength={120}
              autoComplete="off"
              value={name}
              onChange={({ target }) => setName(target.value)}
            />
          </FormField>
        )}
        <SelectField
          label={connectTexts.project}
          value={projectKey}
          optionLabels={{
            '': texts.allProjects,
            ...Object.fromEntries(projects.map((project) => [project.key, project.name])),
          }}
          onChange={setProjectKey}
        />
      </div>
    </Form>
  );
}

/** The choice of a client, the form that creates an agent, and then the commands for the client. */
export function ConnectAgent() {
  const [client, setClient] = useState<ClientName>('claude');
  const [made, setMade] = useState<ConnectedAgent | null>(null);
  const hasSignIn = useConsole().session.signedIn !== null;
  return (
    <div className="connect-agent">
      <ClientTabs chosen={client} onChoose={setClient} />
      {made === null ? (
        <NewAgentForm client={client} onCreated={setMade} />
      ) : (
        <div className="connect">
          <div role="status">
            <p className="row-line">{connectTexts.created(made.name)}</p>
            <p className="muted">{connectTexts.once}</p>
          </div>
          <ClientInstructions
            client={client}
            tokenId={made.tokenId}
            access={{ origin: location.origin, secret: made.secret, projectKey: made.projectKey }}
          />
          <div className="form-foot">
            <button type="button" className="button" onClick={() => setMade(null)}>
              {connectTexts.another}
            </button>
          </div>
        </div>
      )}
      {hasSignIn && <p className="muted">{connectTexts.signIn(`${location.origin}/api/mcp`)}</p>}
    </div>
  );
}
