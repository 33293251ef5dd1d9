CREATE INDEX `jobs_by_session` ON `jobs` (`session_id`);--> statement-breakpoint
CREATE INDEX `outbox_by_recipient` ON `outbox` (`recipient`);--> statement-breakpoint
CREATE INDEX `users_closed` ON `users` (`closed_at`) WHERE closed_at IS NOT NULL;