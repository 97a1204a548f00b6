"""The command ``heterophily``: one file per verb; heavy imports only inside the verb that runs."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

import typer

from heterophily.cli import (
    compare,
    convert,
    data,
    demo,
    diagnose,
    explain,
    figure,
    figures,
    generate,
    info,
    models,
    panels,
    paper,
    predict,
    report,
    runs,
    serve,
    train,
    tune,
)
from heterophily.errors import OUT_OF_MEMORY, HeterophilyError, is_out_of_memory

YOUR_GRAPH, TRY, PAPER = "Your graph", "To begin with", "Datasets, the paper, stored runs"

app = typer.Typer(
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo", rich_help_panel=TRY)(demo.demo)
app.command("diagnose", rich_help_panel=YOUR_GRAPH)(diagnose.diagnose)
app.command("report", rich_help_panel=YOUR_GRAPH)(report.report)
app.command("train", rich_help_panel=YOUR_GRAPH)(train.train)
app.command("predict", rich_help_panel=YOUR_GRAPH)(predict.predict)
app.command("explain", rich_help_panel=YOUR_GRAPH)(explain.explain)
app.command("compare", rich_help_panel=YOUR_GRAPH)(compare.compare)
app.command("tune", rich_help_panel=YOUR_GRAPH)(tune.tune)
app.command("convert", rich_help_panel=YOUR_GRAPH)(convert.convert)
app.command("generate", rich_help_panel=TRY)(generate.generate)
app.command("serve", rich_help_panel=TRY)(serve.serve)
app.command("models", rich_help_panel=TRY)(models.models)
app.command("info", rich_help_panel=TRY)(info.info)
app.add_typer(data.app, name="data", rich_help_panel=PAPER)
figures.add_to(figure.app)
paper.app.add_typer(figure.app, name="figure")
app.add_typer(paper.app, name="paper", rich_help_panel=PAPER)
app.add_typer(runs.app, name="runs", rich_help_panel=PAPER)


def _print_version(value: bool) -> None:
    if value:
        from importlib.metadata import version

        typer.echo(f"heterophily {version('heterophily')}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Is my heterophily harmful, which model should I use, and why?"""
    panels.show_help(context)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; every foreseeable failure is one line on stderr and exit code 2."""
    _print_anything()
    try:
        code = app(args=argv, prog_name="heterophily", standalone_mode=False)
    except HeterophilyError as error:
        return _fail(str(error))
    except typer.Abort:
        return _stopped()
    except MemoryError:
        return _fail(OUT_OF_MEMORY)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _fail(f"{where}{error.strerror or error}")
    except KeyboardInterrupt:
        return _stopped()
    except Exception as error:
        if is_out_of_memory(error):
            return _fail(OUT_OF_MEMORY)
        if not hasattr(error, "format_message"):  # a usage error of the command-line library
            raise
        where = getattr(getattr(error, "ctx", None), "command_path", "heterophily")
        return _fail(f"{error.format_message()} (see {where} --help)")
    return _stopped() if code == 130 else code if isinstance(code, int) else 0


def _print_anything() -> None:
    """Let a terminal that knows few characters show ``?`` for the others."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")


def _fail(message: str) -> int:
    print("error: " + " ".join(message.split()), file=sys.stderr)
    return 2


def _stopped() -> int:
    print("stopped", file=sys.stderr)
    return 130


if __name__ == "__main__":
    sys.exit(main())
