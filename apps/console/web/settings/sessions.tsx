import { useQuery } from '@tanstack/react-query';
import { type Session } from '@muster/contract';
import { useClient, useConsole } from '../data/context.ts';
import { showNotice } from '../components/notices.tsx';
import { timeAgo } from '../messages/index.ts';
import { texts } from '../messages/settings.ts';
import { joinFacts, ListItem, QueryList, Section, useSettingsWrite } from './components.tsx';
import { sessionsQuery } from './queries.ts';

const browserTokens = ['Edg', 'OPR', 'Firefox', 'Chrome', 'Safari'] as const;
const browserNames: Readonly<Partial<Record<string, string>>> = { Edg: 'Edge', OPR: 'Opera' };
const systemNames = ['Windows', 'Android', 'iPhone', 'iPad', 'Mac OS X', 'Linux'] as const;

/** Shortens a user agent to browser and system, by which people recognize it. */
function describeBrowser(userAgent: string | null): string {
  const program = browserTokens.find((one) => userAgent?.includes(`${one}/`) === true);
  if (program === undefined) return userAgent?.slice(0, 60) ?? texts.sessions.unknown;
  const system = systemNames.find((one) => userAgent?.includes(one) === true);
  return [browserNames[program] ?? program, system === 'Mac OS X' ? 'macOS' : system]
    .filter((part) => part !== undefined)
    .join(', ');
}

function SessionRow({ session }: { readonly session: Session }) {
  const { sessions } = useClient();
  const { signOut } = useConsole();
  const { isBusy, run } = useSettingsWrite();
  const { id: sessionId, current, userAgent, ip, lastSeenAt } = session;
  return (
    <ListItem
      title={
        <>
          {describeBrowser(userAgent)}{' '}
          {current && (
            <span className="state" data-tone="good">
              {texts.sessions.current}
            </span>
          )}
        </>
      }
      details={joinFacts(ip, texts.sessions.seen(timeAgo(lastSeenAt)))}
    >
      <button
        type="button"
        className="button"
        data-kind="quiet"
        disabled={isBusy}
        onClick={() => (current ? signOut() : void run(() => sessions.revoke({ sessionId })))}
      >
        {texts.sessions.end}
        <span className="sr-only"> {describeBrowser(userAgent)}</span>
      </button>
    </ListItem>
  );
}

export function Sessions() {
  const client = useClient();
  const { isBusy, run } = useSettingsWrite();
  const sessions = useQuery(sessionsQuery(client));
  const endOthers = async (): Promise<void> => {
    await run(async () => {
      const { ended } = await client.sessions.revokeOthers();
      showNotice({ tone: 'good', title: texts.sessions.ended(ended) });
    });
  };
  return (
    <Section
      id="sessions"
      title={texts.sections.sessions}
      intro={texts.sessions.intro}
      headerAction={
        (sessions.data?.length ?? 0) > 1 && (
          <button type="button" className="button" disabled={isBusy} onClick={() => void endOthers()}>
            {texts.sessions.others}
          </button>
        )
      }
    >
      <QueryList query={sessions} emptyTitle={texts.sessions.empty} emptyWhy={texts.sessions.emptyWhy}>
        {(session) => <SessionRow key={session.id} session={session} />}
      </QueryList>
    </Section>
  );
}
