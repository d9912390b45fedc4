/** The channels of each kind of notification. Each choice is saved immediately. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { type ResultOf } from '@muster/contract';
import { type Registry } from '@muster/registry';
import { useClient, useIdentity } from '../data/context.ts';
import { needsAnswer } from '../data/needs.ts';
import { announceToScreenReader, errorText } from '../components/notices.tsx';
import { LoadError, Loading } from '../components/states.tsx';
import { notificationTexts as words } from '../messages/notifications.ts';
import { texts } from '../messages/settings.ts';
import { Section } from './components.tsx';
import { preferencesQuery } from './queries.ts';
import { widestScope } from './rights.ts';

type ChannelPreference = ResultOf<Registry['notifications']['listPreferences']>['items'][number];
type Channel = keyof ChannelPreference['channels'];

const channels = Object.keys(words.channels) as Channel[];

export function NotificationSettings() {
  const preferences = useQuery(preferencesQuery(useClient()));
  const { data, error } = preferences;
  return (
    <Section id="notifications" title={texts.sections.notifications} intro={words.intro}>
      {data === undefined ? (
        error === null ? (
          <Loading label={texts.loading} />
        ) : (
          <LoadError error={error} onRetry={() => void preferences.refetch()} />
        )
      ) : (
        <PreferenceTable preferences={data} />
      )}
    </Section>
  );
}

interface PreferenceSaveResult {
  readonly kind: ChannelPreference['kind'];
  /** The reason of a failed save; null after a successful one. */
  readonly failure: string | null;
}

/** The choice of one checkbox. A newer choice for the same checkbox is another object. */
interface ChannelChoice {
  readonly kind: ChannelPreference['kind'];
  readonly channel: Channel;
  readonly enabled: boolean;
}

/** Shows choices immediately and saves them one after the other. */
function usePreferenceChanges() {
  const client = useClient();
  const queries = useQueryClient();
  /** Unsaved choices, by kind and channel. */
  const [pending, setPending] = useState<ReadonlyMap<string, ChannelChoice>>(new Map());
  const [told, setTold] = useState<PreferenceSaveResult | null>(null);
  const before = useRef<Promise<void>>(Promise.resolve());

  const save = async (choice: ChannelChoice): Promise<void> => {
    const { kind, channel } = choice;
    const { queryKey } = preferencesQuery(client);
    try {
      const { preference } = await client.notifications.setPreference(choice);
      // A refetch that began before this save would bring back the previous choice.
      await queries.cancelQueries({ queryKey });
      queries.setQueryData(queryKey, (last) => last?.map((one) => (one.kind === kind ? preference : one)));
      setTold({ kind, failure: null });
      announceToScreenReader(texts.saved);
    } catch (error) {
      const failure = errorText(error);
      setTold({ kind, failure });
      announceToScreenReader(`${texts.failed}. ${failure}`);
    }
    setPending((last) => {
      const name = `${kind} ${channel}`;
      // If the reader has changed this checkbox again in the meantime, the newer choice stays pending.
      if (last.get(name) !== choice) return last;
      const next = new Map(last);
      next.delete(name);
      return next;
    });
  };
  const choose = (choice: ChannelChoice): void => {
    setPending((last) => new Map(last).set(`${choice.kind} ${choice.channel}`, choice));
    setTold(null);
    // Saves run in order, so that the last choice wins.
    before.current = before.current.then(() => save(choice));
  };
  return { pending, told, choose };
}

interface PreferenceRowProps {
  readonly preference: ChannelPreference;
  readonly mayWrite: boolean;
  readonly changes: ReturnType<typeof usePreferenceChanges>;
}

function PreferenceRow({ preference, mayWrite, changes }: PreferenceRowProps) {
  const { kind, channels: saved } = preference;
  const { pending, told, choose } = changes;
  const shown = (channel: Channel): boolean => pending.get(`${kind} ${channel}`)?.enabled ?? saved[channel];
  return (
    <tr>
      <th scope="row">
        {words.kinds[kind]}
        {told?.kind === kind && (
          <span className={told.failure === null ? 'told-state' : 'told-state form-error'}>
            {told.failure === null ? texts.saved : `${texts.failed}. ${told.failure}`}
          </span>
        )}
        {told?.kind !== kind && !channels.some(shown) && <span className="told-state">{words.mute}</span>}
      </th>
      {channels.map((channel) => (
        <td key={channel}>
          <label className="told-cell">
            <input
              type="checkbox"
              aria-label={words.by(words.kinds[kind], words.channels[channel])}
              disabled={!mayWrite}
              checked={shown(channel)}
              onChange={({ target }) => choose({ kind, channel, enabled: target.checked })}
            />
          </label>
        </td>
      ))}
    </tr>
  );
}

function PreferenceTable({ preferences }: { readonly preferences: readonly ChannelPreference[] }) {
  const { token } = useIdentity();
  const mayWrite = widestScope(token.scopes) !== 'read';
  const choosing = usePreferenceChanges();
  const group = (title: string, kinds: readonly ChannelPreference[]) => (
    <tbody>
      <tr>
        <th scope="rowgroup" colSpan={channels.length + 1} className="told-group">
          {title}
        </th>
      </tr>
      {kinds.map((one) => (
        <PreferenceRow key={one.kind} preference={one} mayWrite={mayWrite} changes={choosing} />
      ))}
    </tbody>
  );
  return (
    <>
      <table className="table told">
        <thead>
          <tr>
            <th scope="col">{words.what}</th>
            {channels.map((channel) => (
              <th key={channel} scope="col">
                {words.channels[channel]}
              </th>
            ))}
          </tr>
        </thead>
        {group(
          words.needs,
          preferences.filter((one) => needsAnswer(one)),
        )}
        {group(
          words.known,
          preferences.filter((one) => !needsAnswer(one)),
        )}
      </table>
      <p className="muted">{mayWrite ? words.push : words.readOnly}</p>
    </>
  );
}
