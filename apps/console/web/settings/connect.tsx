/** Commands to paste into a client for a new token, and the first call that arrives with the token. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useClient } from '../data/context.ts';
import { Icon } from '../components/icons.tsx';
import { connectTexts } from '../messages/connect.ts';
import { CopyButton } from './components.tsx';
import { tokensQuery } from './queries.ts';

const pollingIntervalMs = 2_000;

type ClientName = keyof typeof connectTexts.clients;

/** Returns the commands per client. The console has the same origin as the API. */
const connectCommands = (secret: string): Readonly<Record<ClientName, string>> => {
  const { origin } = location;
  const mcpUrl = `${origin}/api/mcp`;
  return {
    claude: `claude mcp add --transport http muster '${mcpUrl}' --header 'Authorization: Bearer ${secret}'`,
    codex: `export MUSTER_TOKEN='${secret}'\ncodex mcp add muster --url '${mcpUrl}' --bearer-token-env-var MUSTER_TOKEN`,
    cursor: JSON.stringify(
      { mcpServers: { muster: { url: mcpUrl, headers: { Authorization: `Bearer ${secret}` } } } },
      null,
      2,
    ),
    commandLine: `export MUSTER_BASE_URL='${origin}' MUSTER_TOKEN='${secret}'\nmuster session identity`,
  };
};

function FirstCallStatus({ tokenId }: { readonly tokenId: string }) {
  const tokens = useQuery({
    ...tokensQuery(useClient()),
    // The use of a token is no event, so the list is polled.
    refetchInterval: ({ state }) =>
      state.data?.some(({ id, lastUsedAt }) => id === tokenId && lastUsedAt !== null) === true
        ? false
        : pollingIntervalMs,
  });
  const isUsed = tokens.data?.some(({ id, lastUsedAt }) => id === tokenId && lastUsedAt !== null) === true;
  return (
    <p className="state" data-tone={isUsed ? 'good' : 'wait'} role="status">
      {isUsed ? <Icon name="tick" size={14} /> : <span className="pulse" data-state="opening" />}
      {isUsed ? connectTexts.used : connectTexts.waiting}
    </p>
  );
}

interface ConnectClientInstructionsProps {
  readonly tokenId: string;
  readonly secret: string;
}

export function ConnectClientInstructions({ tokenId, secret }: ConnectClientInstructionsProps) {
  const [shown, setShown] = useState<ClientName>('claude');
  const snippet = connectCommands(secret)[shown];
  return (
    <section className="connect" aria-labelledby="connect">
      <h3 id="connect">{connectTexts.title}</h3>
      <div className="tabs" role="group" aria-label={connectTexts.choose}>
        {(Object.keys(connectTexts.clients) as ClientName[]).map((name) => (
          <button
            key={name}
            type="button"
            className="tab"
            aria-pressed={name === shown}
            onClick={() => setShown(name)}
          >
            {connectTexts.clients[name]}
          </button>
        ))}
      </div>
      <p className="muted">{connectTexts.where[shown]}</p>
      <div className="connect-snippet">
        <pre tabIndex={0} aria-label={connectTexts.clients[shown]}>
          <code>{snippet}</code>
        </pre>
        <CopyButton key={shown} name={connectTexts.clients[shown]} value={snippet} />
      </div>
      <FirstCallStatus tokenId={tokenId} />
    </section>
  );
}
