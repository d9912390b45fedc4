/** By which ways one is told of what: each choice is saved as it is made. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { type Registry, type ResultOf } from '@muster/registry';
import { useClient, useIdentity } from '../data/context.ts';
import { needsAnswer } from '../data/needs.ts';
import { announce, reasonFor } from '../parts/notices.tsx';
import { Failed, Loading } from '../parts/states.tsx';
import { told as words } from '../texts/notifications.ts';
import { s } from '../texts/settings.ts';
import { Section } from './parts.tsx';
import { preferencesQuery } from './queries.ts';
import { widestOf } from './rights.ts';

type Preference = ResultOf<Registry['notifications']['listPreferences']>['items'][number];
type Channel = keyof Preference['channels'];

const channels = Object.keys(words.channels) as Channel[];

export function Notifications() {
  const preferences = useQuery(preferencesQuery(useClient()));
  const { data, error } = preferences;
  return (
    <Section id="notifications" title={s.sections.notifications} intro={words.intro}>
      {data === undefined ? (
        error === null ? (
          <Loading label={s.loading} />
        ) : (
          <Failed error={error} again={() => void preferences.refetch()} />
        )
      ) : (
        <Choices preferences={data} />
      )}
    </Section>
  );
}

interface Told {
  readonly kind: Preference['kind'];
  /** Why it was not saved; null where it was. */
  readonly failure: string | null;
}

function Choices({ preferences }: { readonly preferences: readonly Preference[] }) {
  const client = useClient();
  const queries = useQueryClient();
  const { token } = useIdentity();
  /** On its way, by kind and channel. */
  const [pending, setPending] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [told, setTold] = useState<Told | null>(null);
  const before = useRef<Promise<void>>(Promise.resolve());
  const mayWrite = widestOf(token.scopes) !== 'read';

  const save = async (kind: Preference['kind'], channel: Channel, enabled: boolean): Promise<void> => {
    try {
      const { preference } = await client.notifications.setPreference({ kind, channel, enabled });
      queries.setQueryData(preferencesQuery(client).queryKey, (last) =>
        last?.map((one) => (one.kind === kind ? preference : one)),
      );
      setTold({ kind, failure: null });
      announce(s.saved);
    } catch (error) {
      const failure = reasonFor(error);
      setTold({ kind, failure });
      announce(`${s.failed}. ${failure}`);
    }
    setPending((last) => {
      const name = `${kind} ${channel}`;
      // Chosen anew meanwhile.
      if (last.get(name) !== enabled) return last;
      const next = new Map(last);
      next.delete(name);
      return next;
    });
  };
  const choose = (kind: Preference['kind'], channel: Channel, enabled: boolean): void => {
    setPending((last) => new Map(last).set(`${kind} ${channel}`, enabled));
    setTold(null);
    // One after the other, so that the last choice is the one that holds.
    before.current = before.current.then(() => save(kind, channel, enabled));
  };

  const group = (title: string, kinds: readonly Preference[]) => (
    <tbody>
      <tr>
        <th scope="rowgroup" colSpan={channels.length + 1} className="told-group">
          {title}
        </th>
      </tr>
      {kinds.map(({ kind, channels: saved }) => {
        const shown = (channel: Channel): boolean => pending.get(`${kind} ${channel}`) ?? saved[channel];
        return (
          <tr key={kind}>
            <th scope="row">
              {words.kinds[kind]}
              {told?.kind === kind && (
                <span className={told.failure === null ? 'told-state' : 'told-state form-error'}>
                  {told.failure === null ? s.saved : `${s.failed}. ${told.failure}`}
                </span>
              )}
              {told?.kind !== kind && !channels.some(shown) && (
                <span className="told-state">{words.mute}</span>
              )}
            </th>
            {channels.map((channel) => (
              <td key={channel}>
                <label className="told-cell">
                  <input
                    type="checkbox"
                    aria-label={words.by(words.kinds[kind], words.channels[channel])}
                    disabled={!mayWrite}
                    checked={shown(channel)}
                    onChange={({ target }) => choose(kind, channel, target.checked)}
                  />
                </label>
              </td>
            ))}
          </tr>
        );
      })}
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
