/** The page that connects an agent. */
import { Link } from '@tanstack/react-router';
import { forbiddenError, LoadError } from '../components/states.tsx';
import { useTitle } from '../components/title.ts';
import { connectTexts } from '../messages/connect.ts';
import { t } from '../messages/index.ts';
import { useMayConnectAgents } from '../settings/rights.ts';
import { ConnectAgent } from './connect-agent.tsx';

export function ConnectAgentPage() {
  useTitle(t.nav.connectAgent);
  const mayConnect = useMayConnectAgents();
  return (
    <>
      <header className="page-head">
        <h1>{t.nav.connectAgent}</h1>
        <span className="grow" />
        {mayConnect && (
          <Link to="/settings/$section" params={{ section: 'tokens' }} className="button" data-kind="quiet">
            {connectTexts.manage}
          </Link>
        )}
      </header>
      <div className="page">
        <div className="page-column start">
          {mayConnect ? (
            <>
              <p className="muted">{connectTexts.intro}</p>
              <ConnectAgent />
            </>
          ) : (
            <LoadError error={forbiddenError} />
          )}
        </div>
      </div>
    </>
  );
}
