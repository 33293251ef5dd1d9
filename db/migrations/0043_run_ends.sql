ALTER TABLE `server_sessions` ADD `ended_because` text;--> statement-breakpoint
ALTER TABLE `server_sessions` ADD `error_code` text;--> statement-breakpoint
UPDATE `server_sessions` SET `ended_because` = CASE -- Once, by the rules that worked it out until now.
	WHEN error_message = 'We stopped your server because an invoice is overdue.'
		OR EXISTS (SELECT 1 FROM `jobs` WHERE session_id = server_sessions.id AND kind = 'server_stop' AND jobs.error_code = 'suspended') THEN 'suspended'
	WHEN error_message IS NOT NULL
		OR EXISTS (SELECT 1 FROM `jobs` WHERE session_id = server_sessions.id AND kind = 'server_stop' AND jobs.error_code IS NOT NULL) THEN 'failure'
	WHEN metered_until + (short_seconds - credit_seconds) * 1000 >= must_stop_at THEN 'trial_over'
	WHEN ends_at IS NULL OR stop_requested_at IS NULL OR stop_requested_at < ends_at THEN 'you'
	WHEN plan_ends THEN 'plan'
	WHEN budget_cents IS NOT NULL THEN 'budget'
	WHEN idle_ends THEN 'idle'
	ELSE 'time_up' END
WHERE stop_requested_at IS NOT NULL OR ended_at IS NOT NULL;--> statement-breakpoint
UPDATE `jobs` SET error_code = 'image_not_found' WHERE error_code = 'image_failed';--> statement-breakpoint
UPDATE `server_sessions` SET error_code = (SELECT jobs.error_code FROM `jobs` WHERE session_id = server_sessions.id
	AND jobs.error_code NOT IN ('stopped', 'suspended', 'stopped_by_us') ORDER BY kind = 'server_stop' DESC, created_at DESC LIMIT 1)
WHERE ended_because = 'failure';
