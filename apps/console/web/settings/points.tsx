/** Points, badges and the leaderboard. They are hidden until the reader turns them on, and appear on no other page. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type PointsProfile } from '@muster/contract';
import { useClient, useConsole } from '../data/context.ts';
import { NextPageButton } from '../components/next-page.tsx';
import { Avatar } from '../components/people.tsx';
import { LoadError, Loading } from '../components/states.tsx';
import { pointTexts as words } from '../messages/points.ts';
import { texts } from '../messages/settings.ts';
import { LabeledFigure, ListItem, QueryList, Section, SelectField } from './components.tsx';
import { leaderboardQuery, type LeaderboardPeriod, pointsProfileQuery, policyQuery } from './queries.ts';

/** The reader's choice, which is kept in this browser. */
function useShowsPoints() {
  const key = `muster.points.${useConsole().session.draftOwnerId}`;
  const [isShown, setShown] = useState(() => localStorage.getItem(key) === 'shown');
  return {
    isShown,
    change: (next: boolean): void => {
      if (next) localStorage.setItem(key, 'shown');
      else localStorage.removeItem(key);
      setShown(next);
    },
  };
}

function ProfileFacts({ profile }: { readonly profile: PointsProfile }) {
  const { points, level, nextLevelAt, streakDays, rank, badges, byKind } = profile;
  const kinds = (Object.keys(words.kinds) as (keyof typeof byKind)[]).filter((kind) => byKind[kind] > 0);
  const facts: readonly (readonly [name: string, value: string])[] = [
    [words.points, points.toLocaleString()],
    [words.level, words.levelOf(level, nextLevelAt)],
    [words.streak, words.streakDays(streakDays)],
    [words.rank, rank?.toLocaleString() ?? words.none],
    [words.badges, badges.map(({ title }) => title).join(', ') || words.none],
    ...kinds.map((kind) => [words.kinds[kind], words.total(byKind[kind])] as const),
  ];
  return (
    <dl className="figures" aria-label={words.facts}>
      {facts.map(([name, value]) => (
        <LabeledFigure key={name} name={name}>
          {value}
        </LabeledFigure>
      ))}
    </dl>
  );
}

function Leaderboard() {
  const [period, setPeriod] = useState<LeaderboardPeriod>('week');
  const pages = useInfiniteQuery(leaderboardQuery(useClient(), period));
  const data = pages.data?.pages.flatMap(({ items }) => items);
  return (
    <Section
      id="leaderboard"
      title={words.leaderboard}
      headerAction={
        <SelectField
          isHidden
          label={words.period}
          value={period}
          optionLabels={words.periods}
          onChange={setPeriod}
        />
      }
    >
      <QueryList query={{ ...pages, data }} emptyTitle={words.noOne}>
        {({ rank, member, points, delta }) => (
          <ListItem
            key={member.id}
            leadingElement={<Avatar name={member.name} kind="member" />}
            title={`${rank.toLocaleString()}. ${member.name}`}
            details={delta === null || delta === 0 ? undefined : words.delta(delta)}
          >
            <span className="tabular">{words.total(points)}</span>
          </ListItem>
        )}
      </QueryList>
      <NextPageButton query={pages} name={words.more} />
    </Section>
  );
}

function ShownPoints() {
  const client = useClient();
  const policy = useQuery(policyQuery(client));
  const profile = useQuery(pointsProfileQuery(client));
  const error = policy.error ?? profile.error;
  if (error !== null)
    return (
      <LoadError error={error} onRetry={() => void Promise.all([policy.refetch(), profile.refetch()])} />
    );
  if (policy.data === undefined || profile.data === undefined) return <Loading label={texts.loading} />;
  if (!policy.data.gamificationEnabled) return <p>{words.off}</p>;
  return (
    <>
      <ProfileFacts profile={profile.data} />
      <Leaderboard />
    </>
  );
}

export function Points() {
  const { isShown, change } = useShowsPoints();
  return (
    <Section id="points" title={texts.sections.points} intro={words.intro}>
      <label className="switch">
        <input type="checkbox" checked={isShown} onChange={({ target }) => change(target.checked)} />
        {words.show}
      </label>
      {isShown && <ShownPoints />}
    </Section>
  );
}
