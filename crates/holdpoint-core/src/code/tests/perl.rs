//! Perl.

use super::{check, check_harmless};
use crate::code::Language::Perl;

#[test]
fn files_are_followed_to_their_paths() {
    check(
        Perl,
        &[
            ("unlink('/etc/passwd')", "delete /etc/passwd"),
            ("unlink 'a', \"b\";", "delete a; delete b"),
            ("unlink qw(a b)", "delete a; delete b"),
            ("unlink $f", "delete ?"),
            ("unlink", "delete ?"),
            ("unlink for @files", "delete ?"),
            ("chomp; unlink if /x/", "delete ?"),
            ("unlink \"/tmp/$x\"", "delete /tmp/…"),
            ("my $p = '/a' . '/b'; unlink $p;", "delete /a/b"),
            ("my $p = 'x'; $p =~ s/x/y/; unlink $p", "delete ?"),
            ("unlink glob '*.o'", "delete ?"),
            ("for my $f ('a', 'b') { unlink $f }", "delete a; delete b"),
            ("unlink 'x' or die \"no: $!\"", "delete x"),
            ("unlink('x') if -e 'x'", "delete x"),
            ("rmdir 'x'", "delete x"),
            (
                "use File::Path qw(remove_tree); remove_tree('x')",
                "delete -r x",
            ),
            ("File::Path::rmtree('x')", "delete -r x"),
            ("open(my $f, '>', 'x') or die; print $f 'y'", "write x"),
            ("open(F, '>x')", "write x"),
            ("open F, '>>x' or die", "append x"),
            ("open(F, 'x')", "read x"),
            ("open(my $f, '<', 'x')", "read x"),
            ("open(my $f, '<:encoding(UTF-8)', 'x')", "read x"),
            ("open(F, \">$x\")", "write ?"),
            ("rename 'a', 'b'", "rename a b"),
            ("chmod 0755, 'x', 'y'", "mode x; mode y"),
            ("truncate 'x', 0", "write x"),
            ("s/x/unlink('y')/e", "delete y"),
            ("print \"@{[unlink 'x']}\"", "delete x"),
            ("map { unlink $_ } @f", "delete ?"),
            ("use constant X => 4; X /2; unlink 'y'; #/", "delete y"),
            ("$h {x} / 2; unlink 'y'; # /", "delete y"),
        ],
    );
}

#[test]
fn programs_are_lines_or_words() {
    check(
        Perl,
        &[
            ("system('rm -rf /')", "shell rm -rf /"),
            ("system 'rm', '-rf', '/'", "run rm|-rf|/"),
            ("my @a = ('rm', 'x'); system(@a)", "run rm|x"),
            ("system \"rm $x\"", "shell rm …"),
            ("exec 'id'", "shell id"),
            ("system { 'rm' } 'ls', 'x'", "run rm|x"),
            ("print `id`", "shell id"),
            ("print qx{id}", "shell id"),
            ("my $x = qx(ls $d)", "shell ls …"),
            ("open(F, 'id|')", "shell id"),
            ("open(F, '|sh')", "shell sh"),
            ("open(my $f, '-|', 'id')", "shell id"),
            ("open(my $f, '-|', 'ls', '-l')", "run ls|-l"),
            ("open(F, $x)", "shell ?"),
            ("CORE::system('id')", "shell id"),
            ("BEGIN { system 'id' }", "shell id"),
            ("if (1) { system('id') }", "shell id"),
            ("$x = `rm $y`", "shell rm …"),
            ("use constant X => system('id');", "shell id"),
            ("@ARGV = ('id|'); while (<>) { print }", "shell id"),
            ("local @ARGV = ('x'); print <>", "read x"),
        ],
    );
}

#[test]
fn code_made_at_run_time_is_read_or_said() {
    check(
        Perl,
        &[
            ("eval \"unlink 'x'\"", "delete x"),
            ("eval { unlink 'x' }; print $@ if $@", "delete x"),
            ("eval $code", "eval; !Evaluates"),
            ("eval pack('H*', '756e6c696e6b202778 27')", "delete x"),
            ("s/(.*)/$1/ee", "!Evaluates"),
            ("/(?{ system 'id' })/", "!Evaluates"),
            ("&{\"x\"}(1)", "!DynamicName"),
            ("print 'a", "!Unreadable"),
            ("$x->$method('a')", "!DynamicName"),
            ("require $module", "!DynamicName"),
            ("require Foo::Bar; require 'x.pl'", ""),
        ],
    );
}

#[test]
fn ordinary_code_gives_nothing() {
    check_harmless(
        Perl,
        &[
            "print if /x/",
            "print 'rm -rf /'",
            "print \"system('x')\\n\"",
            "s/foo/bar/g",
            "s/'/\"/g; print",
            "s{/a/b}{/c/d}g",
            "tr/a-z/A-Z/",
            "y/a/b/; print",
            "print $F[0]",
            "print join(',', @F), \"\\n\"",
            "print \"$F[1] $h{x} $r->{y}[0]\\n\"",
            "$n++ if m{x}; END { print $n }",
            "my %h = (a => 1, s => 2, y => 3); print $h{s}",
            "while (<>) { chomp; print \"$_\\n\" if $. > 2 }",
            "while (my $l = <STDIN>) { $s += length $l }",
            "print $1 if /(\\d+)/",
            "print sprintf('%05.2f', 3.14159)",
            "use strict; use warnings; print 1",
            "# unlink 'x'\nprint 1",
            "=pod\n\nunlink 'x'\n\n=cut\nprint 1",
            "print 1;\n__END__\nunlink 'x'",
            "sub f { my ($a, $b) = @_; return $a + $b } print f(1, 2)",
            "print sort { $a <=> $b } grep { $_ > 1 } map { $_ * 2 } @x",
            "print 10 / 2, 7 % 3, 2 ** 3",
            "$h{$_}++ for split /,/; print scalar keys %h",
            "print -s $f, -e 'x'",
            "my $s = <<'E';\nit's unlink `id`\nE\nprint $s",
            "print q(it's), qq{a \"b\"}",
            "@a = qw/a b c/; print $#a",
            "print $ENV{HOME}",
            "printf \"%s\\n\", $^V",
            "die \"x\" unless @ARGV; exit 0",
            "local $/; my $t = <>; print length($t)",
            "$x = $y ? 'a' : 'b'",
            "print \"a\" x 3",
            "next unless /\\S/; last if $. == 10; print",
            "BEGIN { $/ = undef } print uc",
            "print ucfirst lc $_, reverse 1..3",
            "@s = sort keys %h; print \"@s\"",
            "use JSON::PP; print decode_json(join '', <>)->{x}",
            "print localtime() . ''",
            "my ($y) = / ^ (.+?) \\s   # it's\n (x) $ /x; print $y",
            "sub f ($$;$) { return $_[0] } print f(1)",
            "print $fh <<\"E\";\nit's unlink\nE\n",
            "print {$fh} <<E;\nit's\nE\n",
            "s,/a,/b,; print",
        ],
    );
}
