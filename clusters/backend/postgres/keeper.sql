-- One at a time: PostgreSQL does not let two replace a function at once.
select pg_advisory_xact_lock(hashtext('lockcheck_storage'));

-- A row for each key, with its value, the highest token that was served on it, and how many requests it has seen: the order of
-- effects within a key is that of the locks on its row. (Sequences have gaps, and their numbers are in no order of commits.)
create table if not exists lockcheck_storage (key text primary key, value text not null, mark text not null, place bigint not null);
create table if not exists lockcheck_storage_log (
    key text, place bigint, request text, kind text, hold text, token text, value text, base text, outcome text, mark text, first text, idempotency_key text,
    primary key (key, place), unique (key, request));
-- What was rejected or is a duplicate has not used its idempotency key.
create unique index if not exists lockcheck_storage_applied on lockcheck_storage_log (key, idempotency_key) where outcome = 'applied' and idempotency_key <> '';

-- The row is locked before anything is looked at, for reads and rejections too, and everything is one transaction. Names of columns
-- are told from arguments by the prefix a_.
create or replace function lockcheck_handle(a_key text, a_request text, a_kind text, a_hold text, a_token text, a_value text, a_base text, a_idempotency_key text)
returns table (outcome text, value text, mark text) language plpgsql as $$
declare
    r lockcheck_storage%rowtype;
    done lockcheck_storage_log%rowtype;
begin
    select * into r from lockcheck_storage s where s.key = a_key for update;
    if not found then
        insert into lockcheck_storage values (a_key, '', '', 0) on conflict do nothing;
        select * into r from lockcheck_storage s where s.key = a_key for update;
    end if;
    select * into done from lockcheck_storage_log l where l.key = a_key and l.request = a_request;
    if found and done.first <> '' then
        select * into done from lockcheck_storage_log l where l.key = a_key and l.request = done.first;
    end if;
    if found then
        return query select done.outcome, done.value, done.mark;
        return;
    end if;
    r.place := r.place + 1;
    if a_idempotency_key <> '' then
        select * into done from lockcheck_storage_log l
            where l.key = a_key and l.idempotency_key = a_idempotency_key and l.idempotency_key <> '' and l.outcome = 'applied';
        if found then -- answered before anything is compared
            update lockcheck_storage s set place = r.place where s.key = a_key;
            insert into lockcheck_storage_log values
                (a_key, r.place, a_request, a_kind, a_hold, a_token, a_value, a_base, 'duplicate', r.mark, done.request, a_idempotency_key);
            return query select done.outcome, done.value, done.mark;
            return;
        end if;
    end if;
    if a_token <> '' and r.mark <> '' and a_token::numeric < r.mark::numeric then
        done.outcome := 'rejected';
        done.value := a_value;
    else
        done.outcome := 'applied';
        if a_token <> '' and (r.mark = '' or a_token::numeric > r.mark::numeric) then r.mark := a_token; end if;
        if a_kind = 'write' then r.value := a_value; end if;
        done.value := r.value;
    end if;
    update lockcheck_storage s set value = r.value, mark = r.mark, place = r.place where s.key = a_key;
    insert into lockcheck_storage_log values (a_key, r.place, a_request, a_kind, a_hold, a_token, done.value, a_base, done.outcome, r.mark, '', a_idempotency_key);
    return query select done.outcome, done.value, r.mark;
end $$;
