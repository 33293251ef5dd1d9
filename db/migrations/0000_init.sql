CREATE TABLE `alerts` (
	`matter` text PRIMARY KEY NOT NULL,
	`told_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `api_tokens` (
	`id` text PRIMARY KEY NOT NULL,
	`hash` text NOT NULL,
	`user_id` text NOT NULL,
	`name` text NOT NULL,
	`scope` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`revoked_at` integer,
	`last_used_at` integer,
	`last_address` text,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `api_tokens_hash_unique` ON `api_tokens` (`hash`);--> statement-breakpoint
CREATE INDEX `api_tokens_by_user` ON `api_tokens` (`user_id`);--> statement-breakpoint
CREATE TABLE `audit_log` (
	`id` text PRIMARY KEY NOT NULL,
	`at` integer NOT NULL,
	`actor` text NOT NULL,
	`act` text NOT NULL,
	`subject` text NOT NULL,
	`user_id` text,
	`reason` text NOT NULL,
	`detail` text
);
--> statement-breakpoint
CREATE INDEX `audit_log_by_time` ON `audit_log` (`at`);--> statement-breakpoint
CREATE INDEX `audit_log_by_user` ON `audit_log` (`user_id`,`at`);--> statement-breakpoint
CREATE TABLE `billing_records` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`period_start` integer NOT NULL,
	`period_end` integer NOT NULL,
	`plan_type` text,
	`included_hours` real NOT NULL,
	`trial` integer NOT NULL,
	`seconds` integer NOT NULL,
	`amount_cents` integer NOT NULL,
	`corrects` text,
	`reason` text,
	`session_id` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`corrects`) REFERENCES `billing_records`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `one_record_per_period` ON `billing_records` (`user_id`,`period_start`) WHERE corrects IS NULL;--> statement-breakpoint
CREATE INDEX `billing_records_by_user` ON `billing_records` (`user_id`,`period_start`);--> statement-breakpoint
CREATE UNIQUE INDEX `one_credit_per_run` ON `billing_records` (`session_id`,`corrects`) WHERE session_id IS NOT NULL;--> statement-breakpoint
CREATE TABLE `call_counts` (
	`system` text NOT NULL,
	`call` text NOT NULL,
	`outcome` text NOT NULL,
	`count` integer NOT NULL,
	`last_at` integer NOT NULL,
	PRIMARY KEY(`system`, `call`, `outcome`)
);
--> statement-breakpoint
CREATE TABLE `checkouts` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`plan_type` text NOT NULL,
	`stripe_session_id` text,
	`status` text NOT NULL,
	`created_at` integer NOT NULL,
	`check_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `checkouts_stripe_session_id_unique` ON `checkouts` (`stripe_session_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `one_open_checkout_per_user` ON `checkouts` (`user_id`) WHERE status = 'open';--> statement-breakpoint
CREATE INDEX `checkouts_to_check` ON `checkouts` (`check_at`) WHERE check_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `contact_messages` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text DEFAULT 'sales' NOT NULL,
	`name` text NOT NULL,
	`email` text NOT NULL,
	`source` text NOT NULL,
	`message` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `device_logins` (
	`id` text PRIMARY KEY NOT NULL,
	`device_hash` text NOT NULL,
	`user_code` text NOT NULL,
	`device_name` text NOT NULL,
	`address` text,
	`scope` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`poll_every_ms` integer NOT NULL,
	`last_polled_at` integer,
	`denied_at` integer,
	`token_id` text,
	`claimed_at` integer,
	FOREIGN KEY (`token_id`) REFERENCES `api_tokens`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `device_logins_device_hash_unique` ON `device_logins` (`device_hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `device_logins_user_code_unique` ON `device_logins` (`user_code`);--> statement-breakpoint
CREATE INDEX `device_logins_by_end` ON `device_logins` (`expires_at`);--> statement-breakpoint
CREATE INDEX `device_logins_by_token` ON `device_logins` (`token_id`);--> statement-breakpoint
CREATE TABLE `door_links` (
	`id` text PRIMARY KEY NOT NULL,
	`hash` text NOT NULL,
	`session_id` text NOT NULL,
	`sign_in_id` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`used_at` integer,
	`uses` integer DEFAULT 0 NOT NULL,
	`revoked_at` integer,
	FOREIGN KEY (`session_id`) REFERENCES `server_sessions`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `door_links_hash_unique` ON `door_links` (`hash`);--> statement-breakpoint
CREATE INDEX `door_links_by_session` ON `door_links` (`session_id`);--> statement-breakpoint
CREATE TABLE `email_tokens` (
	`hash` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`purpose` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`used_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `email_tokens_by_user` ON `email_tokens` (`user_id`);--> statement-breakpoint
CREATE TABLE `environments` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`description` text NOT NULL,
	`image` text,
	`plans` text NOT NULL,
	`user_id` text,
	`position` integer NOT NULL,
	`created_at` integer NOT NULL,
	`retired_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `environments_by_user` ON `environments` (`user_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `one_environment_per_name` ON `environments` ((CASE WHEN user_id IS NULL THEN '' ELSE user_id END),lower(name)) WHERE retired_at IS NULL;--> statement-breakpoint
CREATE TABLE `factor_removals` (
	`user_id` text PRIMARY KEY NOT NULL,
	`actor` text NOT NULL,
	`reason` text NOT NULL,
	`due_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `factor_removals_due` ON `factor_removals` (`due_at`);--> statement-breakpoint
CREATE TABLE `file_folders` (
	`user_id` text PRIMARY KEY NOT NULL,
	`prefix` text NOT NULL,
	`created_at` integer NOT NULL,
	`used_bytes` integer DEFAULT 0 NOT NULL,
	`used_files` integer DEFAULT 0 NOT NULL,
	`parts_bytes` integer DEFAULT 0 NOT NULL,
	`counted_at` integer,
	`open_until` integer DEFAULT 0 NOT NULL,
	`count_begun_at` integer,
	`count_next` text,
	`count_from` text,
	`count_bytes` integer DEFAULT 0 NOT NULL,
	`count_files` integer DEFAULT 0 NOT NULL,
	`count_due_at` integer,
	`count_failures` integer DEFAULT 0 NOT NULL,
	`told_percent` integer DEFAULT 0 NOT NULL,
	`delete_at` integer,
	`over_delete_at` integer,
	`over_told` integer,
	`look_at` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `file_folders_prefix_unique` ON `file_folders` (`prefix`);--> statement-breakpoint
CREATE INDEX `file_folders_by_count` ON `file_folders` (`count_due_at`);--> statement-breakpoint
CREATE INDEX `file_folders_by_look` ON `file_folders` (`look_at`);--> statement-breakpoint
CREATE TABLE `file_removals` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`place` text NOT NULL,
	`accepted_at` integer NOT NULL,
	`next_at` integer NOT NULL,
	`failures` integer DEFAULT 0 NOT NULL,
	`files_left` integer DEFAULT 0 NOT NULL,
	`removed_key` text,
	`done_at` integer,
	`stuck_key` text,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `file_removals_by_user` ON `file_removals` (`user_id`,`accepted_at`);--> statement-breakpoint
CREATE UNIQUE INDEX `file_removals_open` ON `file_removals` (`user_id`,`place`) WHERE done_at IS NULL;--> statement-breakpoint
CREATE INDEX `file_removals_due` ON `file_removals` (`next_at`) WHERE done_at IS NULL;--> statement-breakpoint
CREATE TABLE `file_uploads` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`path` text NOT NULL,
	`size` integer NOT NULL,
	`upload_id` text,
	`version` text,
	`replaces` text,
	`counts` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`ended_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `file_uploads_by_user` ON `file_uploads` (`user_id`);--> statement-breakpoint
CREATE INDEX `file_uploads_by_end` ON `file_uploads` (`expires_at`);--> statement-breakpoint
CREATE TABLE `idempotency_keys` (
	`user_id` text NOT NULL,
	`key` text NOT NULL,
	`digest` text NOT NULL,
	`job_id` text NOT NULL,
	`answer` text,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`user_id`, `key`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`job_id`) REFERENCES `jobs`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `idempotency_keys_by_job` ON `idempotency_keys` (`job_id`);--> statement-breakpoint
CREATE TABLE `incidents` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`started_at` integer NOT NULL,
	`ended_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `one_open_incident_per_kind` ON `incidents` (`kind`) WHERE ended_at IS NULL;--> statement-breakpoint
CREATE INDEX `incidents_by_end` ON `incidents` (`ended_at`);--> statement-breakpoint
CREATE TABLE `invoices` (
	`record_id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`step` text NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`next_at` integer,
	`last_error` text,
	`charge_at` integer,
	`held_at` integer,
	`held_ms` integer DEFAULT 0 NOT NULL,
	`processing_at` integer,
	`debit_returned_at` integer,
	`stripe_invoice_id` text,
	`number` text,
	`bill_to` text,
	`status` text,
	`due_at` integer,
	`paid_at` integer,
	`remaining_cents` integer,
	`hosted_url` text,
	`pdf_url` text,
	`synced_at` integer DEFAULT 0 NOT NULL,
	`refunded_cents` integer DEFAULT 0 NOT NULL,
	`dispute` text,
	`reversal_asked_at` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`record_id`) REFERENCES `billing_records`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `invoices_stripe_invoice_id_unique` ON `invoices` (`stripe_invoice_id`);--> statement-breakpoint
CREATE INDEX `invoices_by_user` ON `invoices` (`user_id`);--> statement-breakpoint
CREATE INDEX `invoices_due` ON `invoices` (`next_at`) WHERE next_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `jobs` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`session_id` text NOT NULL,
	`kind` text NOT NULL,
	`status` text NOT NULL,
	`progress` text,
	`result` text,
	`error_message` text,
	`error_code` text,
	`attempts` integer DEFAULT 0 NOT NULL,
	`run_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`session_id`) REFERENCES `server_sessions`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `jobs_by_user` ON `jobs` (`user_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `jobs_by_session` ON `jobs` (`session_id`);--> statement-breakpoint
CREATE INDEX `jobs_due` ON `jobs` (`run_at`) WHERE run_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `jobs_ended` ON `jobs` (`updated_at`) WHERE run_at IS NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `one_unfinished_job_per_kind` ON `jobs` (`session_id`,`kind`) WHERE run_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `kept_keys` (
	`purpose` text PRIMARY KEY NOT NULL,
	`sealed` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `launches` (
	`token` text PRIMARY KEY NOT NULL,
	`session_id` text NOT NULL,
	`server_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`instance_id` text,
	`outcome` text,
	`refusal_code` text,
	`refusal_request_id` text,
	`terminate_asked_at` integer,
	`launched_at` integer,
	`ended_at` integer,
	`end_reason` text,
	FOREIGN KEY (`session_id`) REFERENCES `server_sessions`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`server_id`) REFERENCES `servers`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `launches_by_session` ON `launches` (`session_id`);--> statement-breakpoint
CREATE TABLE `line` (
	`user_id` text PRIMARY KEY NOT NULL,
	`gpus` integer NOT NULL,
	`trial` integer NOT NULL,
	`start` integer NOT NULL,
	`wishes` text NOT NULL,
	`joined_at` integer NOT NULL,
	`queued_at` integer NOT NULL,
	`joined_position` integer,
	`given_at` integer,
	`held_until` integer,
	`lapses` integer DEFAULT 0 NOT NULL,
	`session_id` text,
	`position` integer,
	`p50` integer,
	`p90` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`session_id`) REFERENCES `server_sessions`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `line_next` ON `line` (`gpus`,`trial`,`queued_at`,`user_id`) WHERE given_at IS NULL AND session_id IS NULL;--> statement-breakpoint
CREATE INDEX `line_by_session` ON `line` (`session_id`) WHERE session_id IS NOT NULL;--> statement-breakpoint
CREATE TABLE `line_group_people` (
	`group_id` text NOT NULL,
	`email` text NOT NULL,
	`joined_at` integer NOT NULL,
	`news` text,
	PRIMARY KEY(`group_id`, `email`),
	FOREIGN KEY (`group_id`) REFERENCES `line_groups`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `line_group_people_by_email` ON `line_group_people` (`email`);--> statement-breakpoint
CREATE INDEX `line_group_people_by_news` ON `line_group_people` (`group_id`) WHERE news IS NOT NULL;--> statement-breakpoint
CREATE TABLE `line_groups` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`gpus` integer NOT NULL,
	`places` integer NOT NULL,
	`starts_at` integer NOT NULL,
	`ends_at` integer NOT NULL,
	`code` text,
	`made_at` integer NOT NULL,
	`released_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `line_groups_code_unique` ON `line_groups` (`code`);--> statement-breakpoint
CREATE INDEX `line_groups_by_size` ON `line_groups` (`gpus`,`ends_at`);--> statement-breakpoint
CREATE INDEX `line_groups_open` ON `line_groups` (`ends_at`) WHERE released_at IS NULL;--> statement-breakpoint
CREATE TABLE `line_turns` (
	`gpus` integer PRIMARY KEY NOT NULL,
	`paid` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `line_waits` (
	`id` integer PRIMARY KEY NOT NULL,
	`gpus` integer NOT NULL,
	`trial` integer NOT NULL,
	`position` integer NOT NULL,
	`joined_at` integer NOT NULL,
	`waited_ms` integer NOT NULL,
	`served` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `line_waits_by_time` ON `line_waits` (`joined_at`);--> statement-breakpoint
CREATE INDEX `line_waits_by_kind` ON `line_waits` (`gpus`,`trial`,`joined_at`);--> statement-breakpoint
CREATE TABLE `notices` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`kind` text NOT NULL,
	`at` integer NOT NULL,
	`title` text NOT NULL,
	`text` text NOT NULL,
	`link` text,
	`label` text,
	`cause` text,
	`read_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `notices_cause_unique` ON `notices` (`cause`);--> statement-breakpoint
CREATE INDEX `notices_by_user` ON `notices` (`user_id`,`at`);--> statement-breakpoint
CREATE INDEX `notices_unread` ON `notices` (`user_id`) WHERE read_at IS NULL;--> statement-breakpoint
CREATE INDEX `notices_by_time` ON `notices` (`at`);--> statement-breakpoint
CREATE TABLE `outbox` (
	`id` text PRIMARY KEY NOT NULL,
	`recipient` text NOT NULL,
	`subject` text NOT NULL,
	`text` text NOT NULL,
	`html` text NOT NULL,
	`reply_to` text,
	`off_url` text,
	`cause` text,
	`act` text,
	`created_at` integer NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`send_at` integer,
	`sent_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `outbox_cause_unique` ON `outbox` (`cause`);--> statement-breakpoint
CREATE INDEX `outbox_due` ON `outbox` (`send_at`) WHERE send_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `outbox_by_recipient` ON `outbox` (`recipient`);--> statement-breakpoint
CREATE TABLE `passkey_challenges` (
	`hash` text PRIMARY KEY NOT NULL,
	`purpose` text NOT NULL,
	`user_id` text,
	`browser` text NOT NULL,
	`link` text,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `passkey_challenges_by_user` ON `passkey_challenges` (`user_id`);--> statement-breakpoint
CREATE TABLE `passkeys` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`credential_id` text NOT NULL,
	`public_key` text NOT NULL,
	`counter` integer NOT NULL,
	`transports` text NOT NULL,
	`name` text NOT NULL,
	`waits_for_password` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `passkeys_credential_id_unique` ON `passkeys` (`credential_id`);--> statement-breakpoint
CREATE INDEX `passkeys_by_user` ON `passkeys` (`user_id`);--> statement-breakpoint
CREATE TABLE `servers` (
	`id` text PRIMARY KEY NOT NULL,
	`instance_type` text NOT NULL,
	`availability_zone` text NOT NULL,
	`launch_template` text,
	`gpus` integer DEFAULT 1 NOT NULL,
	`position` integer NOT NULL,
	`reserved_by` text,
	`reserved_at` integer,
	`set_aside_until` integer DEFAULT 0 NOT NULL,
	`retired_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `servers_reserved_by_unique` ON `servers` (`reserved_by`);--> statement-breakpoint
CREATE INDEX `servers_in_order` ON `servers` (gpus DESC,`position`) WHERE retired_at IS NULL;--> statement-breakpoint
CREATE INDEX `servers_free` ON `servers` (gpus DESC,`position`) WHERE +reserved_by IS NULL AND retired_at IS NULL;--> statement-breakpoint
CREATE TABLE `plan_payments` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`stripe_invoice_id` text NOT NULL,
	`number` text,
	`plan_type` text,
	`period_start` integer NOT NULL,
	`period_end` integer NOT NULL,
	`amount_cents` integer NOT NULL,
	`remaining_cents` integer NOT NULL,
	`status` text NOT NULL,
	`due_at` integer,
	`paid_at` integer,
	`hosted_url` text,
	`pdf_url` text,
	`synced_at` integer NOT NULL,
	`check_at` integer,
	`refunded_cents` integer DEFAULT 0 NOT NULL,
	`dispute` text,
	`reversal_asked_at` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `plan_payments_stripe_invoice_id_unique` ON `plan_payments` (`stripe_invoice_id`);--> statement-breakpoint
CREATE INDEX `plan_payments_by_user` ON `plan_payments` (`user_id`,`period_start`);--> statement-breakpoint
CREATE INDEX `plan_payments_to_check` ON `plan_payments` (`check_at`) WHERE check_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `subscriptions` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`plan_type` text NOT NULL,
	`sub_type` text NOT NULL,
	`status` text NOT NULL,
	`anchor` integer NOT NULL,
	`hours` real DEFAULT 0 NOT NULL,
	`earlier_plan_type` text,
	`earlier_hours` real,
	`earlier_until` integer,
	`upgraded_at` integer,
	`upgraded_from` text,
	`upgrade_until` integer,
	`next_plan_type` text,
	`next_plan_at` integer,
	`cancel_at_period_end` integer DEFAULT false NOT NULL,
	`cancel_at` integer,
	`paid_until` integer,
	`stripe_subscription_id` text,
	`synced_at` integer DEFAULT 0 NOT NULL,
	`check_at` integer,
	`created_at` integer NOT NULL,
	`ended_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `subscriptions_stripe_subscription_id_unique` ON `subscriptions` (`stripe_subscription_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `one_current_subscription_per_user` ON `subscriptions` (`user_id`) WHERE ended_at IS NULL;--> statement-breakpoint
CREATE INDEX `subscriptions_by_user` ON `subscriptions` (`user_id`);--> statement-breakpoint
CREATE INDEX `subscriptions_to_check` ON `subscriptions` (`check_at`) WHERE check_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `recovery_codes` (
	`user_id` text NOT NULL,
	`hash` text NOT NULL,
	`created_at` integer NOT NULL,
	`used_at` integer,
	PRIMARY KEY(`user_id`, `hash`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `refused_sign_ins` (
	`user_id` text NOT NULL,
	`hour` integer NOT NULL,
	`wrong` text NOT NULL,
	`count` integer NOT NULL,
	`last_at` integer NOT NULL,
	`user_agent` text,
	`address` text,
	PRIMARY KEY(`user_id`, `hour`, `wrong`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `refused_sign_ins_by_hour` ON `refused_sign_ins` (`hour`);--> statement-breakpoint
CREATE TABLE `run_events` (
	`id` text PRIMARY KEY NOT NULL,
	`session_id` text NOT NULL,
	`at` integer NOT NULL,
	`what` text NOT NULL,
	`detail` text,
	`by` text NOT NULL,
	FOREIGN KEY (`session_id`) REFERENCES `server_sessions`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `run_events_by_session` ON `run_events` (`session_id`,`at`);--> statement-breakpoint
CREATE TABLE `server_sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`server_id` text NOT NULL,
	`instance_type` text NOT NULL,
	`availability_zone` text,
	`environment` text,
	`image` text,
	`vehicle` text,
	`name` text,
	`ends_at` integer,
	`stop_after` integer,
	`by_token` integer DEFAULT false NOT NULL,
	`in_trial` integer DEFAULT false NOT NULL,
	`default_ends_at` integer,
	`ends_set_at` integer,
	`until_exit` integer DEFAULT false NOT NULL,
	`command` text,
	`exited_at` integer,
	`max_gpus` integer,
	`plan_ends` integer DEFAULT false NOT NULL,
	`own_ends_at` integer,
	`idle_ends` integer DEFAULT false NOT NULL,
	`idle_look_at` integer,
	`budget_cents` integer,
	`requested_at` integer NOT NULL,
	`running_at` integer,
	`billed_from` integer,
	`confirmed_at` integer,
	`unseen_since` integer,
	`unseen_looks` integer DEFAULT 0 NOT NULL,
	`must_stop_at` integer,
	`trial_warned_at` integer,
	`warned_end` integer,
	`stop_requested_at` integer,
	`metered_until` integer,
	`ended_at` integer,
	`cost_units` integer,
	`instance_id` text,
	`ip_address` text,
	`private_address` text,
	`door_label` text,
	`files_phase` text,
	`files_mode` text,
	`files_read_only` text,
	`ended_because` text,
	`error_code` text,
	`error_message` text,
	`parameters` text,
	`secrets` text,
	`registry` text,
	`pull` text,
	`container_started_at` integer,
	`exit_code` integer,
	`died_of` text,
	`disk_nearly_full` integer DEFAULT false NOT NULL,
	`hours_look_at` integer,
	`short_seconds` integer DEFAULT 0 NOT NULL,
	`credit_seconds` integer DEFAULT 0 NOT NULL,
	`credit_at` integer,
	`ec2_difference` integer,
	`warm` integer DEFAULT false NOT NULL,
	`work_given_at` integer,
	`told_warm` integer DEFAULT false NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`server_id`) REFERENCES `servers`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `server_sessions_door_label_unique` ON `server_sessions` (`door_label`);--> statement-breakpoint
CREATE INDEX `server_sessions_to_credit` ON `server_sessions` (`credit_at`) WHERE credit_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `server_sessions_differing` ON `server_sessions` (`ended_at`) WHERE (abs(ec2_difference) > 60 OR short_seconds > 60);--> statement-breakpoint
CREATE INDEX `server_sessions_hours` ON `server_sessions` (`hours_look_at`) WHERE hours_look_at IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `one_live_session_per_user` ON `server_sessions` (`user_id`) WHERE ended_at IS NULL;--> statement-breakpoint
CREATE INDEX `server_sessions_by_user` ON `server_sessions` (`user_id`,`requested_at`);--> statement-breakpoint
CREATE INDEX `server_sessions_by_meter` ON `server_sessions` (`user_id`,`metered_until`);--> statement-breakpoint
CREATE INDEX `server_sessions_by_kind` ON `server_sessions` (`environment`,`instance_type`,`requested_at`);--> statement-breakpoint
CREATE INDEX `server_sessions_by_instance` ON `server_sessions` (`instance_id`);--> statement-breakpoint
CREATE INDEX `server_sessions_by_private_address` ON `server_sessions` (`private_address`) WHERE ended_at IS NULL;--> statement-breakpoint
CREATE INDEX `server_sessions_live` ON `server_sessions` (`ended_at`) WHERE ended_at IS NULL;--> statement-breakpoint
CREATE TABLE `secrets` (
	`user_id` text NOT NULL,
	`name` text NOT NULL,
	`sealed` text NOT NULL,
	`username` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`user_id`, `name`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `server_requests` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `sign_in_challenges` (
	`hash` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`browser` text NOT NULL,
	`tries` integer DEFAULT 0 NOT NULL,
	`expires_at` integer NOT NULL,
	`new_browser` integer DEFAULT false NOT NULL,
	`user_agent` text,
	`address` text,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `sign_in_challenges_by_user` ON `sign_in_challenges` (`user_id`);--> statement-breakpoint
CREATE INDEX `sign_in_challenges_by_end` ON `sign_in_challenges` (`expires_at`);--> statement-breakpoint
CREATE TABLE `sign_ins` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_seen_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`revoked_at` integer,
	`password_at` integer,
	`user_agent` text,
	`address` text,
	`new_browser` integer DEFAULT false NOT NULL,
	`network` text,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `sign_ins_by_user` ON `sign_ins` (`user_id`);--> statement-breakpoint
CREATE INDEX `sign_ins_by_network` ON `sign_ins` (`network`);--> statement-breakpoint
CREATE TABLE `start_times` (
	`owner` text NOT NULL,
	`environment` text NOT NULL,
	`instance_type` text NOT NULL,
	`until_exit` integer NOT NULL,
	`p50` integer,
	`p90` integer,
	`warm_p50` integer,
	`warm_p90` integer,
	`counted_at` integer NOT NULL,
	PRIMARY KEY(`owner`, `environment`, `instance_type`, `until_exit`)
);
--> statement-breakpoint
CREATE INDEX `start_times_by_count` ON `start_times` (`counted_at`);--> statement-breakpoint
CREATE TABLE `status_checks` (
	`id` text PRIMARY KEY NOT NULL,
	`first_at` integer NOT NULL,
	`last_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `stripe_events` (
	`id` text PRIMARY KEY NOT NULL,
	`type` text NOT NULL,
	`received_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `totps` (
	`user_id` text PRIMARY KEY NOT NULL,
	`sealed` text NOT NULL,
	`created_at` integer NOT NULL,
	`sign_in_id` text NOT NULL,
	`confirmed_at` integer,
	`last_step` integer DEFAULT 0 NOT NULL,
	`last_used_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `trials_given` (
	`mailbox` text PRIMARY KEY NOT NULL,
	`given_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `users` (
	`id` text PRIMARY KEY NOT NULL,
	`email` text NOT NULL,
	`name` text NOT NULL,
	`password_hash` text NOT NULL,
	`admin` integer DEFAULT false NOT NULL,
	`confirmed_at` integer,
	`suspended_at` integer,
	`stop_warned_at` integer,
	`held_at` integer,
	`closed_at` integer,
	`mailbox` text,
	`stripe_customer_id` text,
	`billed_until` integer DEFAULT 0 NOT NULL,
	`budget_cents` integer,
	`budget_stops` integer DEFAULT false NOT NULL,
	`charge_consent_at` integer,
	`charge_refused_at` integer,
	`muted_mails` text DEFAULT '[]' NOT NULL,
	`idle_minutes` integer,
	`billing_due_at` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `users_email_unique` ON `users` (`email`);--> statement-breakpoint
CREATE UNIQUE INDEX `users_stripe_customer_id_unique` ON `users` (`stripe_customer_id`);--> statement-breakpoint
CREATE INDEX `users_billing_due` ON `users` (`billing_due_at`);--> statement-breakpoint
CREATE INDEX `users_closed` ON `users` (`closed_at`) WHERE closed_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `users_by_mailbox` ON `users` (`mailbox`) WHERE mailbox IS NOT NULL;--> statement-breakpoint
CREATE INDEX `users_without_mailbox` ON `users` (`confirmed_at`) WHERE mailbox IS NULL AND confirmed_at IS NOT NULL AND password_hash <> '';--> statement-breakpoint
CREATE TABLE `warm_machines` (
	`token` text PRIMARY KEY NOT NULL,
	`server_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`instance_id` text,
	`launched_at` integer,
	`template_version` text,
	`asked_at` integer,
	`ready_at` integer,
	`failed_at` integer,
	`unseen_since` integer,
	`unseen_looks` integer DEFAULT 0 NOT NULL,
	`ending_at` integer,
	`ended_at` integer,
	FOREIGN KEY (`server_id`) REFERENCES `servers`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `one_warm_machine_per_place` ON `warm_machines` (`server_id`) WHERE ended_at IS NULL;--> statement-breakpoint
CREATE INDEX `warm_machines_by_instance` ON `warm_machines` (`instance_id`);--> statement-breakpoint
CREATE INDEX `warm_machines_ended` ON `warm_machines` (`ended_at`) WHERE ended_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `warm_settings` (
	`instance_type` text NOT NULL,
	`availability_zone` text NOT NULL,
	`hours` text NOT NULL,
	`time_zone` text NOT NULL,
	`hour_cents` real,
	PRIMARY KEY(`instance_type`, `availability_zone`)
);
--> statement-breakpoint
CREATE TABLE `webhook_deliveries` (
	`endpoint_id` text NOT NULL,
	`event_id` text NOT NULL,
	`user_id` text NOT NULL,
	`type` text NOT NULL,
	`payload` text NOT NULL,
	`created_at` integer NOT NULL,
	`since` integer NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`next_at` integer,
	`tried_at` integer,
	`taken_at` integer,
	`status` integer,
	`answer` text,
	PRIMARY KEY(`endpoint_id`, `event_id`),
	FOREIGN KEY (`endpoint_id`) REFERENCES `webhook_endpoints`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `webhook_deliveries_by_time` ON `webhook_deliveries` (`endpoint_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_due` ON `webhook_deliveries` (`next_at`) WHERE next_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `webhook_deliveries_due_by_user` ON `webhook_deliveries` (`user_id`,`next_at`) WHERE next_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `webhook_endpoints` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`url` text NOT NULL,
	`events` text NOT NULL,
	`secrets` text NOT NULL,
	`created_at` integer NOT NULL,
	`answered_at` integer,
	`off_at` integer,
	`off_because` text,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `one_webhook_per_url` ON `webhook_endpoints` (`user_id`,`url`);--> statement-breakpoint
CREATE TRIGGER `audit_log_keeps` BEFORE UPDATE ON `audit_log` BEGIN SELECT RAISE(ABORT, 'The audit log can not be changed.'); END;--> statement-breakpoint
CREATE TRIGGER `audit_log_stays` BEFORE DELETE ON `audit_log` BEGIN SELECT RAISE(ABORT, 'The audit log can not be changed.'); END;--> statement-breakpoint
CREATE TRIGGER `audit_log_replaces_nothing` BEFORE INSERT ON `audit_log` WHEN EXISTS (SELECT 1 FROM `audit_log` WHERE `id` = NEW.`id`) BEGIN SELECT RAISE(ABORT, 'The audit log can not be changed.'); END;--> statement-breakpoint
INSERT INTO `environments` (`id`, `name`, `description`, `plans`, `position`, `created_at`) VALUES
	('env_blocks', 'Blocks', 'Boxes and an arch on a level floor.', '["demo","basic","premium","enterprise"]', 1, 1795478400000),
	('env_neighborhood', 'Neighborhood', 'Streets with houses, trees, and parked cars.', '["demo","basic","premium","enterprise"]', 2, 1795478400000),
	('env_mountains', 'Mountains', 'Rough ground with steep hills and pines.', '["demo","basic","premium","enterprise"]', 3, 1795478400000);
