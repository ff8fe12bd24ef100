-- Copies of a company, for tests that need many alike. The ids of a copy differ from those of its
-- base in their first eight digits, which are the mark of the copy.

-- The rows come in any order, so that references are not looked at. To set this for each copy would
-- have all statements planned again.
SET session_replication_role = 'replica';

-- A row as JSON, with what must be unique made the copy's own.
CREATE FUNCTION remarked(line text, base text, prefix text, mark text) RETURNS json
LANGUAGE sql VOLATILE AS $$
    SELECT regexp_replace(regexp_replace(replace(replace(replace(line,
        left(base, 8) || '-', mark || '-'),
        '"' || prefix || '-', '"C' || mark || '-'),
        '"issue_prefix":"' || prefix || '"', '"issue_prefix":"C' || mark || '"'),
        '(_hash":"\\\\x)[0-9a-f]{8}', '\1' || mark),
        '"doc":[0-9]+', '"doc":' || CASE WHEN line LIKE '%"doc":%'
            THEN nextval(pg_get_serial_sequence('issue_texts', 'doc')) ELSE 0 END)::json
$$;

-- Makes the function `copy_` with the id of this company, which copies it with a mark. It names
-- only the tables in which the company has rows, so that they are planned once for all copies.
CREATE FUNCTION note_base(base uuid) RETURNS void LANGUAGE plpgsql AS $note$
DECLARE
    prefix text;
    place regclass;
    has_rows boolean;
    rows_of text := 'INSERT INTO %1$s SELECT copied.* FROM %1$s t
        CROSS JOIN LATERAL json_populate_record(NULL::%1$s,
            remarked(to_json(t)::text, %3$L, %4$L, mark)) AS copied
        WHERE t.%2$I = %3$L; ';
    body text;
BEGIN
    SELECT issue_prefix INTO prefix FROM companies WHERE id = base;
    body := format(rows_of, 'companies', 'id', base, prefix);
    FOR place IN SELECT a.attrelid::regclass FROM pg_attribute a
        JOIN pg_class c ON c.oid = a.attrelid
        WHERE a.attname = 'company_id' AND c.relkind = 'r'
        AND c.relnamespace = 'public'::regnamespace
    LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE company_id = $1)', place)
            INTO has_rows USING base;
        IF has_rows THEN
            body := body || format(rows_of, place, 'company_id', base, prefix);
        END IF;
    END LOOP;
    EXECUTE format('CREATE FUNCTION %I(mark text) RETURNS void LANGUAGE plpgsql AS %L',
        'copy_' || base, format('BEGIN %s
        UPDATE wakes SET not_before = created_at WHERE status = ''pending''
            AND company_id = (mark || %L)::uuid; END', body, substr(base::text, 9)));
END $note$;
