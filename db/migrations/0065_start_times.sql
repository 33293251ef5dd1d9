CREATE TABLE `start_times` (
	`owner` text NOT NULL,
	`environment` text NOT NULL,
	`instance_type` text NOT NULL,
	`until_exit` integer NOT NULL,
	`p50` integer,
	`p90` integer,
	`counted_at` integer NOT NULL,
	PRIMARY KEY(`owner`, `environment`, `instance_type`, `until_exit`)
);
--> statement-breakpoint
CREATE INDEX `start_times_by_count` ON `start_times` (`counted_at`);--> statement-breakpoint
CREATE INDEX `server_sessions_by_kind` ON `server_sessions` (`environment`,`instance_type`,`requested_at`);