-- What is found by words, over everything that a member reads: stories, epics, specs, comments and members. How a text becomes
-- words stands here and not in functions/: rows hold what it said, so that a change of it has to write them all anew.

-- A text as it is compared: without upper case, accents, and other ways to write the same letter.
create function app.fold(said text) returns text
language plpgsql immutable parallel safe as $$
declare
  folded text := casefold(said collate pg_unicode_fast);
begin
  if octet_length(folded) = length(folded) then return folded; end if;
  return normalize(regexp_replace(normalize(folded, NFKD), '[\u0300-\u036f]+', '', 'g'), NFKC);
end $$;

-- The words of a text in their order: letters and digits that stand together. Scripts that put no space between words
-- (Chinese, Japanese, Thai and their kin) give each two letters that follow one another instead. Of a long text the first
-- 20,000 characters and 2,000 words count, of a long word the first 60 letters.
create function app.words(said text) returns text[]
language plpgsql immutable parallel safe as $$
declare
  unspaced constant text := '[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]';
  spaced text := btrim(regexp_replace(app.fold(left(said, 20000)) collate pg_unicode_fast, '[^[:alnum:]]+', ' ', 'g'));
  found text[] := string_to_array(spaced, ' ');
begin
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

-- Stands before everything that is indexed of an organization: so neither a common word nor the beginning of one leads
-- to what others wrote. Two organizations may share it; each row says besides whose it is.
create function app.search_mark(org uuid) returns text
language plpgsql immutable parallel safe as $$
begin
  return substr(translate(encode(sha256(uuid_send(org)), 'base64'), '+/', '-_'), 1, 4);
end $$;

-- The numbers of a word, and of each that is left when a letter of it is left out; with `twice`, another letter as well. Two
-- words that share one are a slip of the fingers apart: a letter more, less, another one, or two that changed places.
-- Some come twice, of a word with a double letter. A loop, since a query costs ten times as much to begin as what it would do here.
create function app.slips(org uuid, word text, twice boolean default false) returns bigint[]
language plpgsql immutable parallel safe as $$
declare
  mark constant text := app.search_mark(org);
  found bigint[] := array[hashtextextended(mark || word, 0)];
  left_over text;
begin
  for at in 1..length(word) loop
    left_over := overlay(word placing '' from at for 1);
    found := found || hashtextextended(mark || left_over, 0);
    -- Of two letters, the one before was left out before.
    for also in at..case when twice then length(left_over) else 0 end loop
      found := found || hashtextextended(mark || overlay(left_over placing '' from also for 1), 0);
    end loop;
  end loop;
  return found;
end $$;

-- The same words, each with a mark before it.
create function app.marked(mark text, words text[]) returns text[]
language plpgsql immutable parallel safe as $$
begin
  return case when words = '{}' then words else string_to_array(mark || array_to_string(words, ' ' || mark), ' ') end;
end $$;

-- Each three letters that follow one another in a text, in small letters: a text that has another in it has all of its.
create function app.grams(said text) returns text[]
language sql immutable parallel safe as $$
  select array(select 'g' || substr(small, at, 3) from lower(said collate pg_c_utf8) as small, generate_series(1, length(small) - 2) as at)
$$;

-- What documents are found by; the words are those of app.words. In PL/pgSQL, in loops and without settings of their own, since
-- a call of a function in SQL costs more than most of this. What is written below a title:
create function app.text_keys(org uuid, words text[]) returns text[]
language plpgsql immutable parallel safe as $$
begin
  return app.marked(app.search_mark(org) || 'b', words);
end $$;
-- A title, and another name of the record.
create function app.title_keys(org uuid, title text, words text[], name text) returns text[]
language plpgsql immutable parallel safe as $$
declare
  mark constant text := app.search_mark(org);
  -- Columns differ in how they compare, and so in what is a small letter.
  small constant text := lower((title || E'\n' || name) collate pg_c_utf8);
  keys text[] := app.marked(mark || 't', words) || (mark || 'e' || left(array_to_string(words, '_'), 80));
begin
  for at in 1..length(small) - 2 loop
    keys := keys || (mark || 'g' || substr(small, at, 3));
  end loop;
  return keys;
end $$;
create function app.story_keys(org uuid, project uuid, key text, labels text[], title text, title_words text[], words text[]) returns text[]
language plpgsql immutable parallel safe as $$
declare
  mark constant text := app.search_mark(org);
begin
  return app.title_keys(org, title, title_words, key) || app.marked(mark || 'b', words)
    || array[mark || 'p' || project]
    || case when labels <> '{}' then array(select mark || 'l' || label from unnest(labels) as label) end;
end $$;
create function app.member_keys(org uuid, name text, name_words text[], handle text, email text) returns text[]
language plpgsql immutable parallel safe as $$
begin
  return app.title_keys(org, name, name_words, handle) || app.marked(app.search_mark(org) || 't', app.words(handle))
    || app.text_keys(org, app.words(email));
end $$;

create table search_documents (
  org_id uuid not null,
  -- Of the story, the epic, the comment or the member; of a spec, its story's.
  id uuid not null,
  kind text not null check (kind in ('story', 'epic', 'spec', 'comment', 'member')),
  -- Null of a member.
  project_id uuid check ((project_id is null) = (kind = 'member')),
  -- Each begins with the organization's mark and a letter: `t` words of a title, `b` of what is written below it, `e` the
  -- whole title, `g` each three letters of title and key, `k` the key, `l` labels, `p` the project.
  -- Most fit into a page as they are: a search looks at hundreds of them, and would unpack each.
  keys tsvector storage external not null,
  primary key (org_id, id, kind)
) with (toast_tuple_target = 8160);
-- What is new waits in a list of at most this many kilobytes, and then goes into the index all at once: the 70 or 150 keys of a
-- document, one by one, would cost a writer more than all the rest of a write.
create index search_documents_keys on search_documents using gin (keys) with (fastupdate = on, gin_pending_list_limit = 1024);
call app.guard_table('search_documents', 'select');
call app.open_table('search_documents', 'muster_door', 'select, insert, update, delete');

-- The words that an organization uses in its titles and texts, for those who mistype them. Written once, when one is new; not
-- unique, so that of two who write the same new word at once neither waits for the other.
create table search_words (
  org_id uuid not null references orgs (id) on delete cascade,
  word text collate "C" not null,
  -- Of the transaction that was first to use it.
  written_by bigint not null default pg_current_xact_id()::text::bigint,
  slips bigint[] not null,
  primary key (org_id, word, written_by)
);
create index search_words_slips on search_words using gin (slips);
call app.guard_table('search_words', 'select');
call app.open_table('search_words', 'muster_door', 'select, insert');
