-- Functions for the search by words and its documents (0013_search). All run as muster_door. Row-level
-- security would apply its own condition before an index on words could be used. Cascades run as the owner,
-- to whom it shows no rows.

-- Splits a text into the words of the index (0013_search); an emoji is a word by itself. The index of a text
-- is updated only when the text changes. Emoji in older texts are found after their next change.
create or replace function app.words(said text) returns text[]
language plpgsql immutable parallel safe as $$
declare
  unspaced constant text := '[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]';
  emoji constant text := '\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff';
  folded text := app.fold(left(said, 20000)) collate pg_unicode_fast;
  spaced text;
  found text[];
begin
  if octet_length(folded) > length(folded) then
    folded := regexp_replace(folded, '([' || emoji || '])', ' \1 ', 'g');
  end if;
  spaced := btrim(regexp_replace(folded collate pg_unicode_fast, '[^[:alnum:]' || emoji || ']+', ' ', 'g'));
  found := string_to_array(spaced, ' ');
  if octet_length(spaced) > length(spaced) and spaced ~ unspaced then
    found := array(
      select p.piece
      from unnest(found) with ordinality as f (word, nth)
      cross join lateral (
        select substr(word, at, 2) as piece, at from generate_series(1, greatest(length(word) - 1, 1)) as at where word ~ unspaced
        union all
        select word, 1 where word !~ unspaced) p
      order by f.nth, p.at);
  end if;
  if length(spaced) > 60 and spaced ~ '[^ ]{61}' then
    found := array(select left(word, 60) from unnest(found) with ordinality as f (word, nth) order by nth);
  end if;
  return found[:2000];
end $$;

-- Replaces the document of a record, and records up to 300 words that are new in the organization.
create or replace function app.put_document(org uuid, record uuid, record_kind text, project uuid, found_by text[], words text[]) returns void
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
declare
  added text[];
begin
  insert into search_documents as d (org_id, id, kind, project_id, keys)
    values (org, record, record_kind, project, array_to_tsvector(found_by))
    on conflict (org_id, id, kind) do update set keys = excluded.keys where d.keys <> excluded.keys;
  added := array(
    select u.word from unnest(words) as u (word) where length(u.word) between 4 and 24 and u.word !~ '[0-9]'
    except select w.word from search_words w where w.org_id = org and w.word = any (words) limit 300);
  if added <> '{}' then
    insert into search_words (org_id, word, slips) select org, a.word, app.slips(org, a.word) from unnest(added) as a (word);
  end if;
end $$;

create or replace function app.keep_story_document() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  key constant text := (select p.key || '-' || new.number from projects p where p.org_id = new.org_id and p.id = new.project_id);
  title_words constant text[] := app.words(new.title);
  -- Only the beginning of a long text is indexed, so the labels, which filters look up, come first.
  words constant text[] := app.words(concat_ws(' ', array_to_string(new.labels, ' '), new.description));
begin
  -- Deleted projects are invisible to authorization checks, so their records are no longer found.
  if key is null then return null; end if;
  perform app.put_document(new.org_id, new.id, 'story', new.project_id,
    app.story_keys(new.org_id, new.project_id, key, new.labels, new.title, title_words, words), title_words || words);
  return null;
end $$;
call app.hand_over('app.keep_story_document()', 'muster_door');
create or replace trigger stories_searched after insert on stories for each row
  execute function app.keep_story_document();
create or replace trigger stories_searched_anew after update of title, description, labels on stories for each row
  when ((old.title, old.description, old.labels) is distinct from (new.title, new.description, new.labels))
  execute function app.keep_story_document();

create or replace function app.keep_epic_document() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  title_words constant text[] := app.words(new.title);
  words constant text[] := app.words(new.description);
begin
  perform app.put_document(new.org_id, new.id, 'epic', new.project_id,
    app.title_keys(new.org_id, new.title, title_words, '') || app.text_keys(new.org_id, words), title_words || words);
  return null;
end $$;
call app.hand_over('app.keep_epic_document()', 'muster_door');
create or replace trigger epics_searched after insert on epics for each row execute function app.keep_epic_document();
create or replace trigger epics_searched_anew after update of title, description on epics for each row
  when ((old.title, old.description) is distinct from (new.title, new.description))
  execute function app.keep_epic_document();

-- Versions are only added, the newest last.
create or replace function app.keep_spec_document() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  words constant text[] := app.words(new.content);
begin
  perform app.put_document(new.org_id, new.story_id, 'spec',
    (select s.project_id from stories s where s.org_id = new.org_id and s.id = new.story_id),
    app.text_keys(new.org_id, words), words);
  return null;
end $$;
call app.hand_over('app.keep_spec_document()', 'muster_door');
create or replace trigger story_specs_searched after insert on story_specs for each row
  execute function app.keep_spec_document();

create or replace function app.keep_comment_document() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  words constant text[] := app.words(new.body);
begin
  if new.body is null then
    delete from search_documents d where d.org_id = new.org_id and d.id = new.id and d.kind = 'comment';
    return null;
  end if;
  perform app.put_document(new.org_id, new.id, 'comment',
    (select s.project_id from stories s where s.org_id = new.org_id and s.id = new.story_id),
    app.text_keys(new.org_id, words), words);
  return null;
end $$;
call app.hand_over('app.keep_comment_document()', 'muster_door');
create or replace trigger comments_searched after insert on comments for each row execute function app.keep_comment_document();
create or replace trigger comments_searched_anew after update of body on comments for each row
  when (old.body is distinct from new.body)
  execute function app.keep_comment_document();

-- Members who left have no document.
create or replace function app.keep_member_document() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  name_words constant text[] := app.words(new.name);
begin
  if new.status <> 'active' then
    delete from search_documents d where d.org_id = new.org_id and d.id = new.id and d.kind = 'member';
    return null;
  end if;
  perform app.put_document(new.org_id, new.id, 'member', null,
    app.member_keys(new.org_id, new.name, name_words, new.handle, new.email), name_words || app.words(new.email));
  return null;
end $$;
call app.hand_over('app.keep_member_document()', 'muster_door');
create or replace trigger members_searched after insert on members for each row execute function app.keep_member_document();
create or replace trigger members_searched_anew after update of name, handle, email, status on members for each row
  when ((old.name, old.handle, old.email, old.status) is distinct from (new.name, new.handle, new.email, new.status))
  execute function app.keep_member_document();

-- Removes the documents of a deleted row. The arguments of the trigger are the kinds of its documents.
create or replace function app.drop_documents() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  delete from search_documents d where d.org_id = old.org_id and d.id = old.id and d.kind = any (tg_argv);
  return null;
end $$;
call app.hand_over('app.drop_documents()', 'muster_door');
create or replace trigger stories_not_searched after delete on stories for each row
  execute function app.drop_documents('story', 'spec');
create or replace trigger epics_not_searched after delete on epics for each row execute function app.drop_documents('epic');
create or replace trigger comments_not_searched after delete on comments for each row
  execute function app.drop_documents('comment');
create or replace trigger members_not_searched after delete on members for each row
  execute function app.drop_documents('member');

-- Formats a key for a full-text query; with `begun` it also matches longer words with this beginning.
create or replace function app.search_term(key text, begun boolean default false) returns text
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
  select '''' || replace(replace(key, '\', '\\'), '''', '''''') || case when begun then ''':*' else '''' end
$$;

-- Returns up to `most` stories of the caller's organization that have all of the keys.
create or replace function app.stories_with(wanted text[], most int) returns setof uuid
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  query constant tsquery := (
    select string_agg(app.search_term(app.search_mark(app.org_id()) || key), ' & ') from unnest(wanted) as key)::tsquery;
begin
  return query select f.id
    from (select d.org_id, d.kind, d.id from search_documents d where d.keys @@ query offset 0) f
    where f.org_id = app.org_id() and f.kind = 'story' limit most;
end $$;
call app.hand_over('app.stories_with(text[], int)', 'muster_door');
grant execute on function app.stories_with(text[], int) to muster_app;

-- Returns the known words that are one typing error away from a typed one. In a typed word of at least 8
-- letters, two letters may be extra.
create or replace function app.words_near(org uuid, typed text) returns text[]
language plpgsql stable set search_path = pg_catalog, public, pg_temp as $$
begin
  if length(typed) not between 3 and 25 or typed ~ '[0-9]' then return '{}'; end if;
  return array(
    select distinct f.word
    from (select w.org_id, w.word from search_words w where w.slips && app.slips(org, typed, length(typed) >= 8) offset 0) f
    where f.org_id = org and f.word <> typed order by f.word limit 200);
end $$;

-- Returns how well a document matches: the number of the first query that it satisfies; null if it satisfies
-- none.
create or replace function app.search_grade(keys tsvector, queries tsquery[]) returns int
language sql immutable parallel safe as $$
  select case when keys @@ queries[1] then 1 when keys @@ queries[2] then 2 when keys @@ queries[3] then 3
    when keys @@ queries[4] then 4 when keys @@ queries[5] then 5 when keys @@ queries[6] then 6
    when keys @@ queries[7] then 7 when keys @@ queries[8] then 8 when keys @@ queries[9] then 9 end
$$;

-- Builds the queries for words, best first. 1: the whole title. 2: its beginning (or that of a key, which
-- app.find looks up). 3: all words in the title. 4: the same with a prefix as the last word. 5: all words in
-- title or text. 6: the same with a prefix as the last word. 7: the letters anywhere in the title. `near`
-- contains alternatives for each misspelled word. If there are any, 8 finds all words in the title, and 9 in
-- title or text.
create or replace function app.search_queries(mark text, typed text, words text[], near jsonb) returns tsquery[]
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
  select array[
    app.search_term(mark || 'e' || left(array_to_string(words, '_'), 80)),
    app.search_term(mark || 'e' || left(array_to_string(words, '_'), 80), true),
    string_agg(app.search_term(mark || 't' || word), ' & '),
    string_agg(app.search_term(mark || 't' || word, is_last), ' & '),
    string_agg(format('(%s | %s)', app.search_term(mark || 't' || word), app.search_term(mark || 'b' || word)), ' & '),
    string_agg(format('(%s | %s)', app.search_term(mark || 't' || word, is_last), app.search_term(mark || 'b' || word, is_last)), ' & '),
    (select string_agg(app.search_term(mark || gram), ' & ') from unnest((app.grams(typed))[:40]) as gram),
    case when near is not null then string_agg('(' || concat_ws(' | ', app.search_term(mark || 't' || word, is_last), slips.in_title) || ')', ' & ') end,
    case when near is not null then string_agg('(' || concat_ws(' | ', app.search_term(mark || 't' || word, is_last),
      app.search_term(mark || 'b' || word, is_last), slips.in_title, slips.in_text) || ')', ' & ') end
  ]::tsquery[]
  from (select word, nth, nth = cardinality(words) as is_last from unnest(words) with ordinality as w (word, nth)) w
  cross join lateral (
    select string_agg(app.search_term(mark || 't' || slip), ' | ') as in_title, string_agg(app.search_term(mark || 'b' || slip), ' | ') as in_text
    from jsonb_array_elements_text(near -> (nth - 1)::int) as slip) slips
$$;

-- Returns up to `most` stories of these projects whose key begins with this one, newest first. The numbers
-- that begin with 7 are 7, 70 to 79, 700 to 799 and so on. An index has the newest of each range, regardless
-- of its size.
create or replace function app.stories_whose_key_begins(org uuid, visible uuid[], typed text, most int) returns setof uuid
language plpgsql stable set search_path = pg_catalog, public, pg_temp as $$
declare
  project_key constant text := upper(split_part(typed, '-', 1));
  digits constant text := split_part(typed, '-', 2);
begin
  return query select f.id
    from projects p
    cross join generate_series(case when digits = '' then 9 else 0 end, 9 - length(digits)) as more
    cross join lateral (
      select s.id from stories s
      where s.org_id = org and s.project_id = p.id
        and s.number between (digits || repeat('0', more))::int and (digits || repeat('9', more))::int
      order by s.number desc limit most) f
    where p.org_id = org and p.id = any (visible) and p.key = project_key
    order by f.id desc limit most;
end $$;

-- Finds up to `most` records that match a text and that the member may see with this token, best first.
-- Records of an archived project are found only if that project is named. `grade` is the number of a query in
-- app.search_queries, 0 for the number of a story and -1 for its key. Words that no visible record has are
-- replaced by similar ones; `slips` contains those.
--
-- The ranking uses no statistics of other records, so that hidden records change neither the results nor
-- their order. It also never ranks all records with a word. It reads the newest 500 documents of the
-- organization, and if they contain too few of a grade, an index finds up to 1,000 more.
create or replace function app.find(member uuid, token uuid, project uuid, kinds text[], typed text, most int)
returns table (nth int, id uuid, kind text, grade int, slips text[])
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  org constant uuid := app.org_id();
  mark constant text := app.search_mark(org);
  words constant text[] := (app.words(typed))[:12];
  visible constant uuid[] := array(
    select v.project_id from app.visible_projects(org, member, token) v
    join projects p on p.org_id = org and p.id = v.project_id
    where v.project_id = project or project is null and p.archived_at is null);
  begins_key constant boolean := btrim(typed) ~* '^[a-z][a-z0-9]{1,9}-([1-9][0-9]{0,8})?$';
  with_members constant boolean := project is null and 'member' = any (kinds);
  near jsonb;
  queries tsquery[];
  anything tsquery;
  meant text[];
  ids uuid[] := '{}';
  found_kinds text[] := '{}';
  grades int[] := '{}';
  more record;
  -- The oldest record that was read, though perhaps not its spec; null if all were read.
  walked_to uuid;
  step int;
begin
  if 'story' = any (kinds) and typed ~ '^\s*([A-Za-z][A-Za-z0-9]{1,9}-|#)?[0-9]{1,9}\s*$' then
    select array_agg(s.id) as ids, array_agg(s.grade) as grades into more from (
      select s.id, case when typed ~ '-' then -1 else 0 end as grade
      from unnest(visible) as v (project_id)
      join projects p on p.org_id = org and p.id = v.project_id and (typed !~ '-' or p.key = upper(split_part(btrim(typed), '-', 1)))
      join stories s on s.org_id = org and s.project_id = p.id and s.number = substring(typed from '[0-9]+\s*$')::int
      order by s.id desc limit most) s;
    ids := coalesce(more.ids, '{}');
    grades := coalesce(more.grades, '{}');
  end if;
  if 'story' = any (kinds) and begins_key then
    ids := ids || array(select app.stories_whose_key_begins(org, visible, btrim(typed), most));
    grades := grades || array_fill(2, array[cardinality(ids) - cardinality(grades)]);
  end if;
  found_kinds := array_fill('story'::text, array[cardinality(ids)]);
  if words <> '{}' then
    select case when count(*) = 500 then (array_agg(d.id order by d.id))[1] end into walked_to
      from (select d.id from search_documents d where d.org_id = org order by d.id desc limit 500) d;
    queries := app.search_queries(mark, btrim(typed), words, null);
    for step in 0..9 loop
      exit when cardinality(ids) >= most and (select count(*) from unnest(grades) as g where g <= step) >= most;
      if step = 8 then
        exit when exists (select 1 from unnest(grades) as g where g <= 6);
        near := (select jsonb_agg(to_jsonb(app.words_near(org, w.word)) order by w.at) from unnest(words) with ordinality as w (word, at));
        exit when not jsonb_path_exists(near, '$[*][*]');
        queries := array_fill(null::tsquery, array[7]) || (app.search_queries(mark, btrim(typed), words, near))[8:];
      end if;
      -- Grades all documents that are read in one statement.
      if step in (0, 8) then
        -- A document that matches any other query also matches one of these.
        anything := case when step = 8 then queries[9] else queries[2] || queries[6] || coalesce(queries[7], queries[6]) end;
        select array_agg(f.id) as ids, array_agg(f.kind) as kinds, array_agg(f.grade) as grades into more from (
          select d.id, d.kind, app.search_grade(d.keys, queries) as grade
          from (select * from search_documents d where d.org_id = org order by d.id desc limit 500) d
          where d.keys @@ anything and d.kind = any (kinds)
            and (d.project_id = any (visible) or d.project_id is null and with_members)) f
        where f.grade is not null;
        ids := ids || coalesce(more.ids, '{}');
        found_kinds := found_kinds || coalesce(more.kinds, '{}');
        grades := grades || coalesce(more.grades, '{}');
      end if;
      -- The letters of a key occur in every key of its project.
      continue when step = 0 or walked_to is null or queries[step] is null or step = 7 and begins_key
        or (select count(*) from unnest(grades) as g where g <= step) >= most;
      select array_agg(f.id) as ids, array_agg(f.kind) as kinds into more from (
        select d.id, d.kind
        from (select * from search_documents d where d.keys @@ queries[step] offset 0) d
        where d.org_id = org and d.id <= walked_to and d.kind = any (kinds)
          and (d.project_id = any (visible) or d.project_id is null and with_members)
          and app.search_grade(d.keys, queries) = step
        limit 1000) f;
      ids := ids || coalesce(more.ids, '{}');
      found_kinds := found_kinds || coalesce(more.kinds, '{}');
      grades := grades || array_fill(step, array[cardinality(coalesce(more.ids, '{}'))]);
    end loop;
  end if;
  meant := array(select jsonb_path_query(near, '$[*][*]') #>> '{}');
  return query
    select (row_number() over (order by f.grade, f.id desc, f.kind))::int, f.id, f.kind, f.grade, meant
    from (select distinct on (u.id, u.kind) u.* from unnest(ids, found_kinds, grades) as u (id, kind, grade) order by u.id, u.kind, u.grade) f
    order by 1 limit most;
end $$;
call app.hand_over('app.find(uuid, uuid, uuid, text[], text, int)', 'muster_door');
grant execute on function app.find(uuid, uuid, uuid, text[], text, int) to muster_app;

-- Returns about 500 characters of the searched part of a text, starting shortly before the first matching
-- word.
create or replace function app.excerpt(written text, typed text, slips text[]) returns text
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
  searched constant text := left(written, 20000);
  folded text;
  at int;
begin
  if length(searched) <= 500 then return searched; end if;
  folded := app.fold(searched);
  at := regexp_instr(folded, '\m(?:' || array_to_string(app.words(typed) || slips, '|') || ')');
  if at = 0 then at := strpos(folded, app.fold(btrim(typed))); end if;
  return substr(searched, greatest(at - 100, 1), 500);
end $$;
