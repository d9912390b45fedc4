import { useQuery } from '@tanstack/react-query';
import { type Session } from '@muster/registry';
import { useClient, useConsole } from '../data/context.ts';
import { notify } from '../components/notices.tsx';
import { ago } from '../messages/index.ts';
import { s } from '../messages/settings.ts';
import { facts, Item, Listed, Section, useWrite } from './components.tsx';
import { sessionsQuery } from './queries.ts';

const programs = ['Edg', 'OPR', 'Firefox', 'Chrome', 'Safari'] as const;
const names: Readonly<Partial<Record<string, string>>> = { Edg: 'Edge', OPR: 'Opera' };
const systems = ['Windows', 'Android', 'iPhone', 'iPad', 'Mac OS X', 'Linux'] as const;

/** Shortens a user agent to browser and system, by which people recognize it. */
function browserOf(userAgent: string | null): string {
  const program = programs.find((one) => userAgent?.includes(`${one}/`) === true);
  if (program === undefined) return userAgent?.slice(0, 60) ?? s.sessions.unknown;
  const system = systems.find((one) => userAgent?.includes(one) === true);
  return [names[program] ?? program, system === 'Mac OS X' ? 'macOS' : system]
    .filter((part) => part !== undefined)
    .join(', ');
}

function One({ session }: { readonly session: Session }) {
  const { sessions } = useClient();
  const { signOut } = useConsole();
  const { isBusy, run } = useWrite();
  const { id: sessionId, current, userAgent, ip, lastSeenAt } = session;
  return (
    <Item
      title={
        <>
          {browserOf(userAgent)}{' '}
          {current && (
            <span className="state" data-tone="good">
              {s.sessions.current}
            </span>
          )}
        </>
      }
      fact={facts(ip, s.sessions.seen(ago(lastSeenAt)))}
    >
      <button
        type="button"
        className="button"
        data-kind="quiet"
        disabled={isBusy}
        onClick={() => (current ? signOut() : void run(() => sessions.revoke({ sessionId })))}
      >
        {s.sessions.end}
        <span className="sr-only"> {browserOf(userAgent)}</span>
      </button>
    </Item>
  );
}

export function Sessions() {
  const client = useClient();
  const { isBusy, run } = useWrite();
  const sessions = useQuery(sessionsQuery(client));
  const endOthers = async (): Promise<void> => {
    await run(async () => {
      const { ended } = await client.sessions.revokeOthers();
      notify({ tone: 'good', title: s.sessions.ended(ended) });
    });
  };
  return (
    <Section
      id="sessions"
      title={s.sections.sessions}
      intro={s.sessions.intro}
      act={
        (sessions.data?.length ?? 0) > 1 && (
          <button type="button" className="button" disabled={isBusy} onClick={() => void endOthers()}>
            {s.sessions.others}
          </button>
        )
      }
    >
      <Listed query={sessions} empty={s.sessions.empty} emptyWhy={s.sessions.emptyWhy}>
        {(session) => <One key={session.id} session={session} />}
      </Listed>
    </Section>
  );
}
