-- Where the GitHub App is that was made of a manifest: people install it from there.
alter table forge_connections add column app_url text;
